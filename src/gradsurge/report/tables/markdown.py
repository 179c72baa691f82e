"""A table as Markdown, for GitHub, MkDocs and the like."""

import re

from gradsurge.experiments.result_table import ResultTable
from gradsurge.report.tables.grid import Grid, Line, Printed, Section, grid_of
from gradsurge.report.tables.legend import full_caption, provenance_line
from gradsurge.report.tables.numbers import one_line

_SPECIAL = re.compile(r"([\\`*_\[\]>|#])")
# MkDocs shows a backslash before these, and takes braces for attributes.
_ENTITIES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", "~": "&#126;", "$": "&#36;", "{": "&#123;", "}": "&#125;"}
)
# What begins a list, or makes a heading of the line before, where a line begins with it.
_FIRST = re.compile(r"^([-+]|\d+[.)])(?=\s|$)|^[=-](?=[=-]*$)")


def to_markdown(table: ResultTable) -> str:
    """Return a heading, the caption, and a pipe table for each block and for its ratios.

    Bold is ``**``; underlined is ``<ins>`` and small type ``<small>``, which Markdown has no signs
    for and every usual renderer lets through. Published numbers have columns of their own, "paper",
    right of ours.
    """
    grid = grid_of(table)
    parts = [f"### {escape(table.title)}", escape(full_caption(table, grid))]
    for section in grid.sections:
        if section.title:
            parts.append(f"**{escape(section.title)}**")
        parts.append(_pipe_table(grid, section))
    if table.notes:
        parts.append("\n".join(f"- {escape(note)}" for note in table.notes))
    if table.provenance:
        parts.append(f"<small>{escape(provenance_line(table))}</small>")
    return "\n\n".join(part for part in parts if part) + "\n"


def escape(text: str) -> str:
    r"""Return Markdown that shows the text as it is, on one line.

    >>> print(escape("lr_0.1 | *a* & <b>"))
    lr\_0.1 \| \*a\* &amp; &lt;b\>
    """
    text = _SPECIAL.sub(r"\\\1", one_line(text)).translate(_ENTITIES)
    return _FIRST.sub(lambda found: f"{found[0][:-1]}&#{ord(found[0][-1])};", text)


def _pipe_table(grid: Grid, section: Section) -> str:
    heads = [
        f"{escape(head.title)} {source}" if grid.compares else escape(head.title)
        for head in grid.heads
        for source in head.sources
    ]
    lines = [["", *heads], ["---", *["---:"] * len(heads)], *map(_line, section.lines)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _line(line: Line) -> list[str]:
    return [escape(line.title), *map(_cell, line.cells)]


def _cell(cell: Printed) -> str:
    value = {1: f"**{cell.value}**", 2: f"<ins>{cell.value}</ins>"}.get(cell.place or 0, cell.value)
    star = r"\*" if cell.star else ""
    deviation = f" <small>±{cell.deviation}</small>" if cell.deviation else ""
    return f"{value}{star}{deviation}"
