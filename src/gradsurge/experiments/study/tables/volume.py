"""Our own table of volumes: the sum of probabilities, and the mask, against the true volume."""

import math
import statistics
from collections.abc import Sequence
from itertools import compress

from gradsurge.experiments.recipes import Recipe
from gradsurge.experiments.result_table import Column, ResultTable, TableBlock, TableRow
from gradsurge.experiments.study.record import Record
from gradsurge.experiments.study.tables.captions import number_of_cases, told_table
from gradsurge.experiments.study.tables.corrections import line_key
from gradsurge.experiments.study.tables.heaviest_case import heaviest_case
from gradsurge.experiments.study.tables.table_rows import (
    Number,
    RowRecords,
    cell_of,
    group_of,
    rows_of,
)
from gradsurge.experiments.study.volume_tally import volume_unit

MASK = "mask"
_NORMAL = 1.96  # 95 % of a normal distribution
_CAPTION = (
    "Estimated less true volume of each case. Bias: the mean; limits of agreement: bias ± 1.96 "
    "standard deviations over cases (Bland and Altman); error: mean of |estimate - truth|. The "
    "estimate is the sum of the probabilities, or the volume of the run's own mask."
)
_ABOUT_HEAVIEST = (
    "The case that is left out below holds more of the NLL than any other, on average over the "
    "losses."
)


def agreement(estimates: Sequence[Number], truth: Sequence[Number]) -> dict[str, Number]:
    """Return "bias", "low", "high", "width" of the limits, and "error".

    Args:
        estimates: a value a case; cases without one are left out.
        truth: a value a case.

    >>> found = agreement([1.0, 3.0, 5.0], [1.0, 2.0, 3.0])
    >>> [round(found[name], 3) for name in ("bias", "low", "high", "error")]
    [1.0, -0.96, 2.96, 1.0]
    """
    pairs = zip(estimates, truth, strict=True)
    gaps = [e - t for e, t in pairs if e is not None and t is not None]
    if len(gaps) < 2:
        return {}
    bias, spread = math.fsum(gaps) / len(gaps), _NORMAL * statistics.stdev(gaps)
    return {
        "bias": bias,
        "low": bias - spread,
        "high": bias + spread,
        "width": 2 * spread,
        "error": math.fsum(map(abs, gaps)) / len(gaps),
    }


def volume_table(records: Sequence[Record], recipe: Recipe, table: str = "volume") -> ResultTable:
    """Return a block a structure, a line for each variant and way to estimate its volume.

    Then the same without the heaviest case, which alone can make a bias or hide one.

    Raises:
        ValueError: the recipe has no such table.
    """
    rows = rows_of(records, recipe, table)
    first = next((record for row in rows for record in row.records), None)
    structures = [] if first is None else list(first.measured.structures)
    dimensions = 3 if first is None else first.measured.dimensions
    unit = volume_unit(dimensions, recipe.data.dataset)
    heaviest = heaviest_case(rows)
    left_out = [None] if heaviest is None else [None, heaviest.case]
    return told_table(
        recipe,
        rows,
        name=table,
        title="Volumes",
        columns=_columns(unit),
        blocks=[
            _block(rows, name, unit, recipe.title if len(structures) < 2 else name, case)
            for case in left_out
            for name in structures or [""]
        ],
        words=[_CAPTION, "" if heaviest is None else _ABOUT_HEAVIEST],
        cases=number_of_cases(rows),
    )


def _columns(unit: str) -> tuple[Column, ...]:
    return (
        Column("bias", "Bias", None, 2, unit),
        Column("low", "Lower limit", None, 2, unit),
        Column("high", "Upper limit", None, 2, unit),
        Column("width", "Width of limits", "lower", 2, unit),
        Column("error", "Error", "lower", 2, unit),
    )


def _block(
    rows: Sequence[RowRecords], structure: str, unit: str, title: str, without: str | None
) -> TableBlock:
    lines = [
        _line(row, structure, how, unit, without)
        for row in rows
        for how in ([*row.corrections, MASK] if row.records else [MASK])
    ]
    return TableBlock(title if without is None else f"{title}: without {without}", lines)


def _line(row: RowRecords, structure: str, how: str, unit: str, without: str | None) -> TableRow:
    found = [_agreement(record, structure, how, without) for record in row.records]
    cells = {}
    for column in _columns(unit):
        values = [value for one in found if (value := one.get(column.name)) is not None]
        cells[column.name] = cell_of(values)
    title = row.variant.title + ("" if how == "none" else f", {how}")
    return TableRow(line_key(row.variant.name, how), title, cells, group_of(row.variant))


def _agreement(record: Record, structure: str, how: str, without: str | None) -> dict[str, Number]:
    volumes = record.measured.volumes.get(structure)
    if volumes is None:
        return {}
    estimates = volumes["own"] if how == MASK else volumes["expected"][how]
    kept = [case != without for case in record.measured.cases]
    return agreement(list(compress(estimates, kept)), list(compress(volumes["true"], kept)))
