"""A table as LaTeX, in the manner of the paper."""

from gradsurge.experiments.result_table import ResultTable
from gradsurge.report.tables.grid import DASH, Grid, Line, Printed, Section, grid_of
from gradsurge.report.tables.latex_text import latex_text
from gradsurge.report.tables.legend import full_caption, provenance_line

_MARKS = {1: r"\mathbf{%s}", 2: r"\underline{%s}"}


def to_latex(table: ResultTable) -> str:
    r"""Return a ``table`` environment; its first line names the packages that it needs.

    The table shrinks to the width of the text if it is wider; it never grows.
    """
    grid = grid_of(table)
    caption = latex_text(f"{table.title}. {full_caption(table, grid)}")
    lines = [
        r"% \usepackage{booktabs,adjustbox}",
        r"\begin{table}[t]",
        r"\centering",
        rf"\caption{{{caption}}}",
        rf"\label{{tab:{_label(table)}}}",
        r"\begin{adjustbox}{max width=\textwidth}",
        rf"\begin{{tabular}}{{l{'c' * grid.width}}}",
        r"\toprule",
        *_head(grid),
        *(line for section in grid.sections for line in _section(section, grid.width + 1)),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{adjustbox}",
        *_below(table),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _label(table: ResultTable) -> str:
    name = "-".join(filter(None, (table.study, table.name)))
    return "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in name)


def _head(grid: Grid) -> list[str]:
    if not grid.compares:
        return [_joined(["", *(latex_text(head.title) for head in grid.heads)])]
    titles, rules, parts, at = [""], [], [""], 2
    for head in grid.heads:
        wide = len(head.sources)
        titles.append(rf"\multicolumn{{{wide}}}{{c}}{{{latex_text(head.title)}}}")
        rules.append(rf"\cmidrule(lr){{{at}-{at + wide - 1}}}")
        parts += head.sources
        at += wide
    return [_joined(titles), " ".join(rules), _joined(parts)]


def _section(section: Section, width: int) -> list[str]:
    lines = [r"\midrule"]
    if section.title:
        lines.append(rf"\multicolumn{{{width}}}{{l}}{{\textit{{{latex_text(section.title)}}}}} \\")
    for line in section.lines:
        if line.apart:
            lines.append(r"\addlinespace")
        lines.append(_line(line))
    return lines


def _line(line: Line) -> str:
    return _joined([latex_text(line.title), *map(_cell, line.cells)])


def _joined(cells: list[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def _cell(cell: Printed) -> str:
    if cell.value == DASH:
        return "--"
    number = f"{cell.value}^{{*}}" if cell.star else cell.value
    value = f"${_MARKS[cell.place] % number if cell.place else number}$"
    return rf"{value} {{\tiny $\pm {cell.deviation}$}}" if cell.deviation else value


def _below(table: ResultTable) -> list[str]:
    texts = [*table.notes, provenance_line(table)]
    said = [latex_text(text) for text in texts if text]
    if not said:
        return []
    return [r"\par\smallskip", r"{\footnotesize\raggedright", "\\par\n".join(said) + r"\par}"]
