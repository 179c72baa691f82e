"""Our own table of shifts: calibration under blur, noise, other contrast, lower resolution."""

from collections.abc import Sequence

from gradsurge.experiments.recipes import Recipe
from gradsurge.experiments.result_table import Column, ResultTable, TableBlock, TableRow
from gradsurge.experiments.runs.corrections import NONE
from gradsurge.experiments.study.record import Record
from gradsurge.experiments.study.shifts import STRENGTHS
from gradsurge.experiments.study.tables.captions import about_cases, about_runs, provenance_of
from gradsurge.experiments.study.tables.corrections import correction_lines
from gradsurge.experiments.study.tables.lines import Line
from gradsurge.experiments.study.tables.table_rows import (
    Number,
    cell_of,
    group_of,
    missing_notes,
    rows_of,
)

SCORES = {"ece": "ECE", "nll": "NLL"}
_CORRECTIONS = (NONE, "equilibrium", "temperature")
_STEPS = len(next(iter(STRENGTHS.values())))
COLUMNS = tuple(
    Column(f"strength{k}", "unshifted" if k == 0 else f"strength {k}", "lower", 4)
    for k in range(_STEPS + 1)
)
_ABOUT = {
    "blur": "blur, deviation in voxels",
    "noise": "noise, in deviations of the image",
    "contrast": "contrast, exponent of the gamma curve",
    "resolution": "voxels that become one",
}
_CAPTION = (
    "The networks were trained on images as they are. Scores of the foreground's probability, all "
    "voxels of all cases pooled, 15 bins. Temperature: fitted on unshifted validation cases."
)


def shift_table(records: Sequence[Record], recipe: Recipe, table: str = "shift") -> ResultTable:
    """Return a block for each shift and score, a column for each strength.

    Raises:
        ValueError: the recipe has no such table.
    """
    rows = rows_of(records, recipe, table)
    lines = correction_lines(rows, _CORRECTIONS)
    blocks = [
        TableBlock(f"{title}: {_ABOUT[kind]}", [_row(line, kind, score) for line in lines])
        for score, title in SCORES.items()
        for kind in STRENGTHS
    ]
    strengths = "; ".join(
        f"{_ABOUT[kind]}: {', '.join(f'{s:g}' for s in values)}"
        for kind, values in STRENGTHS.items()
    )
    words = (about_cases(rows), _CAPTION, f"Strengths 1 to {_STEPS}: {strengths}.")
    return ResultTable(
        name=table,
        title=f"Calibration under shift: {recipe.title}",
        caption=" ".join((*words, about_runs(recipe, rows))),
        columns=COLUMNS,
        blocks=blocks,
        notes=missing_notes(rows, recipe),
        provenance=provenance_of(rows),
    )


def _row(line: Line, kind: str, score: str) -> TableRow:
    cells = {
        column.name: cell_of(line.row.values(_number, line.correction, kind, score, k))
        for k, column in enumerate(COLUMNS)
    }
    base = None if line.base is None else line.base.key
    return TableRow(line.key, line.title, cells, group_of(line.row.variant), base)


def _number(record: Record, correction: str, kind: str, score: str, step: int) -> Number:
    measured = record.measured
    if step == 0:
        return measured.pooled[correction]["all"][measured.headline].get(score)
    values = measured.shift.get(kind, {}).get(correction, {}).get(score, [])
    return values[step - 1] if step <= len(values) else None
