"""The layout that all formats share: which columns, lines and texts there are, and their marks.

Every column with published numbers has two parts, "ours" and "paper". Ratios are lines of their
own below the rows of a block, in the same columns, so that a table grows longer and not wider.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from gradsurge.experiments.result_table import Cell, Column, ResultTable, TableBlock, TableRow
from gradsurge.report.tables.numbers import RATIO_DIGITS, heading, number, one_line, ratio
from gradsurge.report.tables.ranking import Place, places

Source = Literal["ours", "paper"]
DASH = "–"


@dataclass(frozen=True)
class Head:
    """A column and its parts."""

    column: Column
    title: str
    sources: tuple[Source, ...]


@dataclass(frozen=True)
class Printed:
    """The texts of a cell; ``value`` is a dash and ``place`` None if there is no number."""

    value: str = DASH
    deviation: str = ""
    star: bool = False
    place: Place | None = None


@dataclass(frozen=True)
class Line:
    """A row: a cell for each part of each column. ``apart`` if another group begins with it."""

    title: str
    cells: tuple[Printed, ...]
    apart: bool = False


@dataclass(frozen=True)
class Section:
    """Lines under one heading: the rows of a block, or their ratios."""

    title: str
    lines: tuple[Line, ...]
    kind: Literal["rows", "ratios"] = "rows"


@dataclass(frozen=True)
class Grid:
    """A table ready to be written."""

    heads: tuple[Head, ...]
    sections: tuple[Section, ...]

    @property
    def compares(self) -> bool:
        """Whether there are published numbers beside ours."""
        return any(len(head.sources) > 1 for head in self.heads)

    @property
    def width(self) -> int:
        """Number of columns of numbers."""
        return sum(len(head.sources) for head in self.heads)


def grid_of(table: ResultTable) -> Grid:
    """Return the layout of a table."""
    heads = tuple(
        Head(column, heading(column), sources_of(table, column)) for column in table.columns
    )
    sections = []
    for block in table.blocks:
        title = one_line(block.title)
        sections.append(Section(title, _rows(block, heads)))
        ratios = _ratios(block, heads)
        if ratios:
            of_block = f"{title}: ratio to the base" if title else "Ratio to the base"
            sections.append(Section(of_block, ratios, "ratios"))
    return Grid(heads, tuple(sections))


def sources_of(table: ResultTable, column: Column) -> tuple[Source, ...]:
    """Return the parts of a column: "paper" only if one of the rows has a published number."""
    published = any(
        column.name in cells_of(block, row.key, "paper")
        for block in table.blocks
        for row in block.rows
    )
    return ("ours", "paper") if published else ("ours",)


def cells_of(block: TableBlock, key: str | None, source: Source) -> Mapping[str, Cell]:
    """Return the cells of a row, by column; none if there is no such row."""
    if source == "paper":
        return block.published.get(key, {}) if key is not None else {}
    return next((row.cells for row in block.rows if row.key == key), {})


def block_places(block: TableBlock, column: Column, source: Source) -> dict[str, Place]:
    """Return the places of a column, among the rows of the block that are shown."""
    cells = {row.key: cells_of(block, row.key, source).get(column.name) for row in block.rows}
    there = {key: cell for key, cell in cells.items() if cell is not None}
    return places(replace(column, better=block.better_in(column)), there)


def base_title(block: TableBlock, row: TableRow) -> str:
    """Return the title of a row's base, or its key if it is not shown."""
    titles = {other.key: other.title for other in block.rows}
    return titles.get(row.base, row.base) if row.base is not None else ""


def _rows(block: TableBlock, heads: tuple[Head, ...]) -> tuple[Line, ...]:
    parts = [(head.column, source) for head in heads for source in head.sources]
    won = [block_places(block, column, source) for column, source in parts]
    lines = []
    for k, row in enumerate(block.rows):
        cells = tuple(
            _printed(cells_of(block, row.key, source).get(column.name), column, found.get(row.key))
            for (column, source), found in zip(parts, won, strict=True)
        )
        apart = k > 0 and block.rows[k - 1].group != row.group
        lines.append(Line(one_line(row.title), cells, apart))
    return tuple(lines)


def _printed(cell: Cell | None, column: Column, place: Place | None) -> Printed:
    if cell is None or cell.value is None:
        return Printed()
    deviation = "" if cell.deviation is None else number(cell.deviation, column.digits)
    return Printed(number(cell.value, column.digits), deviation, cell.star, place)


def _ratios(block: TableBlock, heads: tuple[Head, ...]) -> tuple[Line, ...]:
    lines = []
    for row in block.rows:
        found = [
            ratio(
                cells_of(block, row.key, source).get(head.column.name),
                cells_of(block, row.base, source).get(head.column.name),
            )
            for head in heads
            for source in head.sources
        ]
        if all(value is None for value in found):
            continue
        cells = tuple(Printed() if v is None else Printed(number(v, RATIO_DIGITS)) for v in found)
        lines.append(Line(one_line(f"{row.title} / {base_title(block, row)}"), cells))
    return tuple(lines)
