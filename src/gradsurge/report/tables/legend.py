"""What the marks of a table mean, said only where they occur."""

from gradsurge.experiments.result_table import ResultTable
from gradsurge.report.tables.grid import DASH, Grid
from gradsurge.report.tables.numbers import one_line


def legend(grid: Grid) -> str:
    """Return sentences on marks, deviations, ratios and published numbers."""
    cells = [cell for section in grid.sections for line in section.lines for cell in line.cells]
    said = []
    if any(cell.place for cell in cells):
        said.append("Bold: best of its block; underlined: second best; equal numbers share a mark.")
    if any(cell.deviation for cell in cells):
        said.append("±: standard deviation.")
    if grid.compares:
        said.append("Paper: published numbers, marked by the same rule.")
        said += published_stars(grid)
    if any(section.kind == "ratios" for section in grid.sections):
        said.append("Ratios: a row's value over its base's.")
    if any(cell.value == DASH for cell in cells):
        said.append(f"{DASH}: no number.")
    return " ".join(said)


def published_stars(grid: Grid) -> list[str]:
    """Return a sentence on the stars in the paper's columns, if there are any."""
    sources = [source for head in grid.heads for source in head.sources]
    starred = any(
        cell.star and source == "paper"
        for section in grid.sections
        for line in section.lines
        for cell, source in zip(line.cells, sources, strict=True)
    )
    told = "Stars in the paper's columns: as printed; the paper does not name its test."
    return [told] if starred else []


def full_caption(table: ResultTable, grid: Grid) -> str:
    """Return the table's caption, then the legend."""
    return one_line(f"{table.caption} {legend(grid)}")


def provenance_line(table: ResultTable) -> str:
    """Return where the table comes from, in one line; "" if nothing is known.

    >>> provenance_line(ResultTable("t", "T", "", [], [], provenance={"commit": "8d987d8"}))
    'commit: 8d987d8'
    """
    return " · ".join(one_line(f"{name}: {value}") for name, value in table.provenance.items())
