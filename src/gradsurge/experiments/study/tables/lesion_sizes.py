"""Table 6: detection and calibration of lesions by size."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from gradsurge.calibration import KITS_EDGES_MM3
from gradsurge.experiments.published import published_table
from gradsurge.experiments.recipes import Recipe
from gradsurge.experiments.result_table import Cell, Column, ResultTable, TableBlock, TableRow
from gradsurge.experiments.study.record import Record
from gradsurge.experiments.study.tables.captions import told_table
from gradsurge.experiments.study.tables.table_rows import (
    Number,
    RowRecords,
    base_of,
    cell_of,
    group_of,
    rows_of,
)

COLUMNS = (
    Column("detection", "Detection", "higher", 4),
    Column("own_detection", "Detection by masks", "higher", 4),
    Column("ece", "ECE", "lower", 4),
    Column("top_ece", "Top-label ECE", "lower", 4),
)
_PUBLISHED = dict(zip(pairwise(KITS_EDGES_MM3[1:]), ("small", "large", "very-large"), strict=True))
_Size = dict[str, Number]
_CAPTION = (
    "Lesions are connected components of the label. Detection: share with at least one voxel of "
    "p > 1/2 (or of the likeliest class), and of the run's own mask. ECE on the lesions' voxels, "
    "averaged over lesions: of the foreground's probability, which is 1 - mean p, and of the "
    "confidence in the likeliest class."
)


def lesion_sizes_table(records: Sequence[Record], recipe: Recipe, table: str = "6") -> ResultTable:
    """Return Table 6: a block a size of lesions.

    Raises:
        ValueError: the recipe has no such table.
    """
    rows = rows_of(records, recipe, table)
    sizes = _sizes(rows)
    blocks = [
        TableBlock(
            _title(size, unit),
            [_row(row, rows, place) for row in rows],
            _published(recipe, table, size),
        )
        for place, (size, unit) in enumerate(sizes)
    ]
    return told_table(
        recipe,
        rows,
        name=f"table{table}",
        title=published_table(6).title.partition(" on ")[0],
        columns=COLUMNS,
        blocks=blocks or [TableBlock("", [_row(row, rows, 0) for row in rows])],
        words=[_CAPTION],
    )


def _row(row: RowRecords, rows: Sequence[RowRecords], place: int) -> TableRow:
    base = base_of(row, rows)
    cells = {c.name: cell_of(row.values(_number, place, c.name)) for c in COLUMNS}
    key = None if base is None else base.variant.name
    return TableRow(row.variant.name, row.variant.title, cells, group_of(row.variant), key)


def _number(record: Record, place: int, column: str) -> Number:
    sizes = _of_record(record)
    if place >= len(sizes) or not sizes[place]["count"]:
        return None
    row = sizes[place]
    counted = {"detection": "detected", "own_detection": "own_detected"}
    if column in counted:
        return (row[counted[column]] or 0) / (row["count"] or 1)
    found: Number = row[column]
    return found


def _of_record(record: Record) -> Sequence[_Size]:
    """Return the sizes of the first structure, raw."""
    by_correction = next(iter(record.measured.lesions.values()), {})
    return [dict(row) for row in by_correction.get("none", [])]


def _sizes(rows: Sequence[RowRecords]) -> list[tuple[_Size, str]]:
    """Return each size of the first record that has lesions, and its unit."""
    for record in (record for row in rows for record in row.records):
        unit = {2: "mm²", 3: "mm³"}[record.measured.dimensions]
        if found := _of_record(record):
            return [(size, unit) for size in found]
    return []


def _title(size: _Size, unit: str) -> str:
    low, high, count = size["low"] or 0.0, size["high"], int(size["count"] or 0)
    span = f"from {low:g} {unit}" if high is None else f"{low:g} to {high:g} {unit}"
    return f"{span} ({count} lesions)"


def _published(recipe: Recipe, table: str, size: _Size) -> Mapping[str, Mapping[str, Cell]]:
    """Return the paper's cells of the same size; nothing for other sizes, or other data."""
    high = math.inf if size["high"] is None else size["high"]
    block = _PUBLISHED.get((size["low"] or 0.0, high))
    if recipe.tables[table].published is None or block is None:
        return {}
    return published_table(6).blocks[block].cells
