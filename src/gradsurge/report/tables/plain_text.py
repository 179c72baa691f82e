"""A table as plain text, for a terminal."""

from gradsurge.experiments.result_table import ResultTable
from gradsurge.report.tables.grid import Grid, Printed, grid_of
from gradsurge.report.tables.legend import provenance_line, published_stars
from gradsurge.report.tables.numbers import one_line

_PLACES = {1: "¹", 2: "²"}


def to_text(table: ResultTable) -> str:
    """Return aligned columns; a raised 1 and 2 stand for bold and underlined.

    Standard deviations are left out: with them a table is wider than a terminal.
    """
    grid = grid_of(table)
    said = [one_line(table.title), one_line(f"{table.caption} {_legend(grid)}"), ""]
    lines = _lines(grid)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    aligned = iter(_aligned(line, widths) for line in lines)
    said.append(next(aligned))
    for section in grid.sections:
        said += ["", section.title] if section.title else [""]
        for line in section.lines:
            said += ["", next(aligned)] if line.apart else [next(aligned)]
    said += ["", *(f"- {one_line(note)}" for note in table.notes), provenance_line(table)]
    return "\n".join(said).rstrip() + "\n"


def _lines(grid: Grid) -> list[list[str]]:
    """Return the heads, then the texts of every line."""
    heads = [
        (head.title if source == "ours" else source) + "  "
        for head in grid.heads
        for source in head.sources
    ]
    lines = [line for section in grid.sections for line in section.lines]
    return [["", *heads], *([line.title, *map(_cell, line.cells)] for line in lines)]


def _cell(cell: Printed) -> str:
    marks = f"{_PLACES.get(cell.place or 0, '')}{'*' if cell.star else ''}"
    return f"{cell.value}{marks:<2}"


def _aligned(line: list[str], widths: list[int]) -> str:
    title, *cells = line
    numbers = (cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))
    return " ".join((title.ljust(widths[0]), *numbers)).rstrip()


def _legend(grid: Grid) -> str:
    cells = [cell for section in grid.sections for line in section.lines for cell in line.cells]
    said = []
    if any(cell.deviation for cell in cells):
        said.append("Standard deviations are not shown here.")
    if any(cell.place for cell in cells):
        said.append("¹ best of its block, ² second best.")
    said += published_stars(grid)
    if any(section.kind == "ratios" for section in grid.sections):
        said.append("Ratios: a value over that of its base.")
    return " ".join(said)
