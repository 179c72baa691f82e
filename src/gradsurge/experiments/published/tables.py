"""What a published table holds."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from gradsurge.experiments.result_table import Cell, Column

Mark = Literal["bold", "underline", "italic"]


@dataclass(frozen=True)
class PublishedCell(Cell):
    """A number as printed; ``marks`` are all its marks, of which the paper nests up to two."""

    marks: tuple[Mark, ...] = ()

    @property
    def mark(self) -> Mark | None:
        """The strongest mark: bold before underlined before italic.

        >>> PublishedCell(0.0014, marks=("italic", "bold")).mark
        'bold'
        """
        strongest: tuple[Mark, ...] = ("bold", "underline", "italic")
        return next((mark for mark in strongest if mark in self.marks), None)


@dataclass(frozen=True)
class PublishedRow:
    """A row: ``title`` as printed; ``group`` and ``base`` as in `TableRow`."""

    key: str
    title: str
    group: str
    base: str | None
    cells: Mapping[str, PublishedCell]


@dataclass(frozen=True)
class PublishedBlock:
    """Rows of one data set (or, in Table 6, of one size of lesions), keyed by our variant names.

    A loss's row has the name of the loss, such as "ce+dice-surgery"; a row of the ablation of the
    exponent is "n1" to "n1000".
    """

    name: str
    title: str
    rows: Mapping[str, PublishedRow]

    @property
    def cells(self) -> Mapping[str, Mapping[str, PublishedCell]]:
        """Row key -> column name -> cell, as ``TableBlock.published`` takes them."""
        return {key: row.cells for key, row in self.rows.items()}


@dataclass(frozen=True)
class PublishedNote:
    """Where the paper contradicts itself; ``cells`` are (block, row, column) of what it is about.

    ``kind`` is "mark" for bold or underlined cells that are not the best or second best of the
    printed values, "value" for numbers that another table prints differently, "text" for the rest.
    """

    kind: Literal["mark", "value", "text"]
    text: str
    cells: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True)
class PublishedTable:
    """One of the paper's tables.

    Attributes:
        number: as in the paper.
        title: what it compares, in our words.
        caption: how the numbers were obtained, in our words.
        columns: from left to right; Dice scores are in per cent.
        blocks: by name: a recipe's name, or in Table 6 the size class.
        notes: where the paper contradicts itself; the data keep what was printed.
    """

    number: int
    title: str
    caption: str
    columns: tuple[Column, ...]
    blocks: Mapping[str, PublishedBlock]
    notes: tuple[PublishedNote, ...]
