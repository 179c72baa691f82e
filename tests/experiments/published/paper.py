"""The paper's tables, read from its source as rows of plain LaTeX."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.experiments.published.latex_cells import Read, read_cell

SOURCE = Path(__file__).parents[4] / "shared" / "paper" / "midl26_317.tex"

_TITLE = re.compile(r"\\multirow\{\d+\}\{\*\}\{\\rotatebox\[origin=c\]\{90\}\{(.*?)\}\}")


@dataclass(frozen=True)
class PaperRow:
    """A row: the heading that begins with it, if one does, and whether a rule is above it."""

    heading: str | None
    rule: bool
    title: str
    cells: list[Read]


def source_of(number):
    """Return the source of a table; skip the test if the paper is not here."""
    if not SOURCE.is_file():
        pytest.skip("the paper's source is not beside the repository")
    found = re.search(rf"%% file: tables/tab{number}_.*?(?=%% file:|\Z)", SOURCE.read_text(), re.S)
    return found[0]


def rows_of(number):
    """Return the rows of a table whose rows are losses or exponents."""
    body = source_of(number).split(r"\begin{tabular}", 1)[1].split(r"\bottomrule" + "\n\\end", 1)[0]
    exponents = number == 3
    rows = []
    for text in body.replace("\n", " ").split(r"\\"):
        *before, rest = re.split(r"\\(?:mid|top|bottom)rule|\\cmidrule\{2-7\}", text)
        first, *others = rest.split("&")
        title = first.strip(" $") if exponents else others.pop(0).strip() if others else ""
        cells = [read_cell(cell) for cell in others]
        if len(cells) == 5 and None not in cells:
            heading = _TITLE.search(first)
            rows.append(PaperRow(heading and heading[1], bool(before), title, cells))
    return rows


def lesion_rows():
    """Return size class -> metric -> cells, of Table 6, and the titles of its columns."""
    source = source_of(6)
    titles = re.findall(r"\\textbf\{(\\begin.*?\\end\{tabular\}|[^{}]*)\}", source)
    titles = [re.sub(r"\\begin\{tabular\}\{@\{\}c@\{\}\}|\\end\{tabular\}", "", t) for t in titles]
    titles = [t.replace(r"\\", " ") for t in titles]
    losses = titles[titles.index("Metric") + 1 :][:7]
    found = {}
    for part in source.split(r"\multirow{2}{*}{\textbf{")[1:]:
        name, rest = part.split("}}", 1)
        lines = re.findall(r"& (Det\.|ECE) &(.*?)\\\\", rest)
        found[name] = {
            metric: [read_cell(cell) for cell in cells.split("&")] for metric, cells in lines
        }
    return losses, found
