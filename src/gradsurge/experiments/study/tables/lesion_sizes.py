"""Table 6: detection and calibration of lesions by size."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from gradsurge.calibration import KITS_EDGES_MM3
from gradsurge.experiments.published import published_table
from gradsurge.experiments.recipes import Recipe
from gradsurge.experiments.result_table import Cell, Column, ResultTable, TableBlock, TableRow
from gradsurge.experiments.study.record import Record
from gradsurge.experiments.study.tables.captions import number_of_cases, told_table
from gradsurge.experiments.study.tables.table_rows import (
    Number,
    RowRecords,
    base_of,
    group_of,
    rows_of,
    whole_cell,
)

COLUMNS = (
    Column("detection", "Detection", "higher", 4),
    Column("own_detection", "Detection by masks", "higher", 4),
    Column("ece", "ECE", "lower", 4),
    Column("top_ece", "Top-label ECE", "lower", 4),
)
_PUBLISHED = dict(zip(pairwise(KITS_EDGES_MM3[1:]), ("small", "large", "very-large"), strict=True))
_CAPTION = (
    "Lesions are connected components of the label. Detection: share with at least one voxel of "
    "p > 1/2 (or of the likeliest class), and of the run's own mask. ECE on the lesions' voxels, "
    "averaged over lesions: of the foreground's probability, which is 1 - mean p, and of the "
    "confidence in the likeliest class. A run whose lesions have other sizes, having lost a case, "
    "leaves its row without a number."
)


@dataclass(frozen=True)
class _Size:
    """Lesions of a structure from ``low`` to below ``high``, None for any above."""

    structure: str
    low: Number
    high: Number
    count: int
    unit: str

    @property
    def title(self) -> str:
        """What a reader sees."""
        low = f"{self.low or 0.0:g}"
        span = f"from {low}" if self.high is None else f"{low} to {self.high:g}"
        return f"{span} {self.unit} ({self.count} lesions)"


def lesion_sizes_table(records: Sequence[Record], recipe: Recipe, table: str = "6") -> ResultTable:
    """Return Table 6: a block a size of lesions.

    Raises:
        ValueError: the recipe has no such table.
    """
    rows = rows_of(records, recipe, table)
    sizes = _sizes(rows)
    several = len({size.structure for size in sizes}) > 1
    blocks = [
        TableBlock(
            f"{size.structure}, {size.title}" if several else size.title,
            [_row(row, rows, size) for row in rows],
            _published(recipe, table, size),
        )
        for size in sizes
    ]
    return told_table(
        recipe,
        rows,
        name=f"table{table}",
        title=published_table(6).title.partition(" on ")[0],
        columns=COLUMNS,
        blocks=blocks or [TableBlock("", [_row(row, rows, None) for row in rows])],
        words=[_CAPTION],
        cases=number_of_cases(rows),
    )


def _row(row: RowRecords, rows: Sequence[RowRecords], size: _Size | None) -> TableRow:
    base = base_of(row, rows)
    cells = {c.name: whole_cell(row, _number, size, c.name) for c in COLUMNS}
    key = None if base is None else base.variant.name
    return TableRow(row.variant.name, row.variant.title, cells, group_of(row.variant), key)


def _number(record: Record, size: _Size | None, column: str) -> Number:
    rows = [] if size is None else _of_record(record).get(size.structure, [])
    row = next((r for r in rows if size and (r["low"], r["high"]) == (size.low, size.high)), None)
    if row is None or not row["count"]:
        return None
    counted = {"detection": "detected", "own_detection": "own_detected"}
    if column in counted:
        return (row[counted[column]] or 0) / row["count"]
    found: Number = row[column]
    return found


def _of_record(record: Record) -> dict[str, Sequence[Mapping[str, Number]]]:
    """Return structure -> sizes, raw."""
    return {name: found.get("none", []) for name, found in record.measured.lesions.items()}


def _sizes(rows: Sequence[RowRecords]) -> list[_Size]:
    """Return the sizes of the record with the most cases: quartiles of the others may differ."""
    records = [record for row in rows for record in row.records if any(_of_record(record).values())]
    if not records:
        return []
    whole = max(records, key=lambda record: len(record.measured.cases))
    unit = {2: "mm²", 3: "mm³"}[whole.measured.dimensions]
    return [
        _Size(structure, size["low"], size["high"], int(size["count"] or 0), unit)
        for structure, sizes in _of_record(whole).items()
        for size in sizes
    ]


def _published(recipe: Recipe, table: str, size: _Size) -> Mapping[str, Mapping[str, Cell]]:
    """Return the paper's cells of the same size; nothing for other sizes, or other data."""
    high = math.inf if size.high is None else size.high
    block = _PUBLISHED.get((size.low or 0.0, high))
    if recipe.tables[table].published is None or block is None:
        return {}
    return published_table(6).blocks[block].cells
