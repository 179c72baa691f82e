"""Our own table of shifts: calibration and Dice under blur, noise, contrast, lower resolution."""

from collections.abc import Sequence

from gradsurge.experiments.recipes import Recipe
from gradsurge.experiments.result_table import (
    Better,
    Column,
    ResultTable,
    TableBlock,
    TableRow,
)
from gradsurge.experiments.runs.corrections import NONE
from gradsurge.experiments.study.record import Record
from gradsurge.experiments.study.shifts import STRENGTHS
from gradsurge.experiments.study.tables.captions import told_table
from gradsurge.experiments.study.tables.corrections import correction_lines
from gradsurge.experiments.study.tables.lines import Line
from gradsurge.experiments.study.tables.table_rows import (
    Number,
    rows_of,
    whole_cell,
)

DICE = "dice"
SCORES: dict[str, tuple[str, Better]] = {
    "ece": ("ECE", "lower"),
    "nll": ("NLL", "lower"),
    DICE: ("DSC", "higher"),
}
_CORRECTIONS = (NONE, "equilibrium", "temperature")
_STEPS = len(next(iter(STRENGTHS.values())))
COLUMNS = tuple(
    Column(f"strength{k}", "unshifted" if k == 0 else f"strength {k}", None, 4)
    for k in range(_STEPS + 1)
)
_ABOUT = {
    "blur": "blur, deviation in voxels",
    "noise": "noise, in deviations of the image",
    "contrast": "contrast, exponent of the gamma curve",
    "resolution": "voxels that become one",
}
_CAPTION = (
    "The networks were trained on images as they are. ECE and NLL: of the foreground's "
    "probability, all voxels of all cases pooled, 15 bins; lower is better. DSC: of p > 1/2, or of "
    "the likeliest class, raw, averaged over cases; higher is better, and no correction changes "
    "it. Temperature: fitted on unshifted validation cases. Where a run lost a case under a shift, "
    "its row has no number."
)


def shift_table(records: Sequence[Record], recipe: Recipe, table: str = "shift") -> ResultTable:
    """Return a block for each shift and score, a column for each strength.

    Raises:
        ValueError: the recipe has no such table.
    """
    rows = rows_of(records, recipe, table)
    lines = correction_lines(rows, _CORRECTIONS)
    strengths = "; ".join(
        f"{_ABOUT[kind]}: {', '.join(f'{s:g}' for s in values)}"
        for kind, values in STRENGTHS.items()
    )
    return told_table(
        recipe,
        rows,
        name=table,
        title="Calibration and Dice under shift",
        columns=COLUMNS,
        blocks=[_block(lines, kind, score) for score in SCORES for kind in STRENGTHS],
        words=[_CAPTION, f"Strengths 1 to {_STEPS}: {strengths}."],
    )


def _block(lines: Sequence[Line], kind: str, score: str) -> TableBlock:
    title, better = SCORES[score]
    shown = [line for line in lines if score != DICE or line.correction == NONE]
    rows = [_row(line, kind, score) for line in shown]
    return TableBlock(f"{title}: {_ABOUT[kind]}", rows, better=better)


def _row(line: Line, kind: str, score: str) -> TableRow:
    cells = {
        column.name: whole_cell(line.row, _number, line.correction, kind, score, k)
        for k, column in enumerate(COLUMNS)
    }
    return line.row_of(cells)


def _number(record: Record, correction: str, kind: str, score: str, step: int) -> Number:
    measured = record.measured
    if step == 0 and score == DICE:
        return measured.dice["plain"].get(measured.headline)
    if step == 0:
        return measured.pooled[correction]["all"][measured.headline].get(score)
    values = measured.shift.get(kind, {}).get(correction, {}).get(score, [])
    return values[step - 1] if step <= len(values) else None
