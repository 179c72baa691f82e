"""A table of results: plain data that `gradsurge.report.tables` writes in four formats."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Better = Literal["lower", "higher"]


@dataclass(frozen=True)
class Cell:
    """A number of a table.

    Attributes:
        value: in the unit of its column; None if there is none.
        deviation: standard deviation, in the same unit.
        star: whether it is significantly better; the table's caption names the test.
    """

    value: float | None
    deviation: float | None = None
    star: bool = False

    def __post_init__(self) -> None:
        for name, number in (("value", self.value), ("deviation", self.deviation)):
            if number is not None and not math.isfinite(number):
                raise ValueError(
                    f"cell: expected a finite {name}, got {number}; pass None for a missing one"
                )


@dataclass(frozen=True)
class Column:
    """A column of numbers.

    Attributes:
        name: key of its cells, such as "nll".
        title: how it is headed, without arrow and unit.
        better: which way is better; None for numbers without a winner, such as logits.
        digits: digits behind the point.
        unit: what values are given in: a Dice score of 0.6621 is 66.21 in a column with unit "%".
    """

    name: str
    title: str
    better: Better | None
    digits: int
    unit: str = ""


@dataclass(frozen=True)
class TableRow:
    """A variant and its numbers.

    Attributes:
        key: the variant's name, the same as in ``TableBlock.published``.
        title: what a reader sees.
        cells: column name -> cell; columns may be left out.
        group: neighbours with the same group stand together, without a rule between them.
        base: key of the row that this one is a surgery of; only such rows have ratios.
    """

    key: str
    title: str
    cells: Mapping[str, Cell]
    group: str = ""
    base: str | None = None


@dataclass(frozen=True)
class TableBlock:
    """Rows that compete with each other, such as those of one data set.

    Attributes:
        title: heading of the block; "" for none.
        rows: from top to bottom.
        published: row key -> column name -> the paper's cell; rows that are not shown may be in
            it, and a row without an entry has no published numbers.
        better: which way is better in all of its columns, where blocks show different scores.
    """

    title: str
    rows: Sequence[TableRow]
    published: Mapping[str, Mapping[str, Cell]] = field(default_factory=dict)
    better: Better | None = None

    def better_in(self, column: Column) -> Better | None:
        """Return which way is better in a column of this block."""
        return self.better or column.better

    def __post_init__(self) -> None:
        twice = [key for key, number in Counter(row.key for row in self.rows).items() if number > 1]
        if twice:
            raise ValueError(
                f"block {self.title!r}: expected one row a key, got several rows {twice[0]!r}"
            )


@dataclass(frozen=True)
class ResultTable:
    """A table: columns, blocks of rows, and what a reader must know about them.

    Attributes:
        name: the stem of its files, such as "table1".
        title: one line.
        caption: what the numbers are, with the test behind the stars; what bold, underlined and ±
            mean is added where they occur.
        columns: from left to right.
        blocks: from top to bottom; best and second best are found within each.
        notes: remarks below the table.
        provenance: where it comes from: commit, date, machine, command.
        study: the recipe it is of; labels of several studies then differ in one paper.
    """

    name: str
    title: str
    caption: str
    columns: Sequence[Column]
    blocks: Sequence[TableBlock]
    notes: Sequence[str] = ()
    provenance: Mapping[str, str] = field(default_factory=dict)
    study: str = ""

    def __post_init__(self) -> None:
        names = [column.name for column in self.columns]
        if len(set(names)) < len(names):
            raise ValueError(f"table {self.name!r}: expected one column a name, got {names}")
        for block in self.blocks:
            for row in block.rows:
                unknown = [name for name in row.cells if name not in names]
                if unknown:
                    raise ValueError(
                        f"table {self.name!r}, row {row.key!r}: expected cells of the columns "
                        f"{', '.join(names)}, got {unknown[0]!r}"
                    )
