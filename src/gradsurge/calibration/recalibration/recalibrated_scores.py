"""What a recalibration would score on a sketch, without touching voxels."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from gradsurge.calibration.bounded import Bounded
from gradsurge.calibration.recalibration.ladder import NLL_TOLERANCE, ladder_nll
from gradsurge.calibration.recalibration.moved_cells import MovedCells, move
from gradsurge.calibration.recalibration.recalibration import Recalibration
from gradsurge.calibration.recalibration.temperature import Temperature
from gradsurge.calibration.sketch import CalibrationSketch

_UNKNOWN = Bounded(math.nan, math.nan)


class ScoreRow(NamedTuple):
    """Scores of the foreground, averaged over its classes; each carries its bound, ``.error``.

    NaN is not available from a sketch. To have it, apply the recalibration to the maps and count
    them in a new sketch.
    """

    nll: Bounded
    brier: Bounded
    ece: Bounded
    mce: Bounded
    dice: Bounded
    best_dice: Bounded


def original_scores(sketch: CalibrationSketch) -> ScoreRow:
    """Return the scores of a sketch as it is, 15 bins, Dice at 0.5 and at the best threshold."""
    best = [sketch.best_threshold(label).dice for label in sketch.foreground]
    return ScoreRow(
        nll=Bounded(sketch.nll(), 0.0),
        brier=Bounded(sketch.brier(), 0.0),
        ece=Bounded(sketch.ece(), 0.0),
        mce=Bounded(sketch.mce(), 0.0),
        dice=sketch.dice_at(0.5),
        best_dice=_mean_of(best),
    )


def recalibrated_scores(sketch: CalibrationSketch, recalibration: Recalibration) -> ScoreRow:
    """Return the scores that the voxels of a sketch would have after a recalibration.

    Binary and multilabel: the cells are moved. Maps that rise keep the order of a cell's edges, so
    each score has a bound that no arrangement of voxels can break. Multiclass: the classes of a
    voxel move together, which a sketch cannot follow, except for the NLL under a temperature: it is
    interpolated, within 0.02 % where tested. All else is NaN.

    Raises:
        ValueError: if the kinds differ or the sketch is empty.
    """
    mine, its = (sketch.kind, sketch.classes), (recalibration.kind, recalibration.classes)
    if mine != its:
        raise ValueError(
            f"sketch: expected {its[0]} of {its[1]} classes, as the recalibration, got {mine[0]} "
            f"of {mine[1]}"
        )
    if not sketch.voxels:
        raise ValueError("sketch: expected voxels to score on, got an empty sketch")
    if sketch.kind == "multiclass":
        return _joint(sketch, recalibration)
    moved = [move(h, recalibration, k) for k, h in enumerate(sketch.histograms)]
    questions: tuple[Callable[[MovedCells], Bounded], ...] = (
        MovedCells.nll,
        MovedCells.brier,
        MovedCells.ece,
        MovedCells.mce,
        MovedCells.dice_at,
        MovedCells.best_dice,
    )
    return ScoreRow(*(_mean_of([ask(cells) for cells in moved]) for ask in questions))


def _joint(sketch: CalibrationSketch, recalibration: Recalibration) -> ScoreRow:
    nll = _UNKNOWN
    if isinstance(recalibration, Temperature):
        total = ladder_nll(sketch.ladder, recalibration.temperatures[0])
        nll = Bounded(total / sketch.voxels, NLL_TOLERANCE * total / sketch.voxels)
    return ScoreRow(nll, *[_UNKNOWN] * 5)


def _mean_of(values: Sequence[Bounded]) -> Bounded:
    """Mean of what is defined, as in a sketch."""
    kept = [v for v in values if not math.isnan(v)]
    if not kept:
        return _UNKNOWN
    return Bounded(math.fsum(kept) / len(kept), math.fsum(v.error for v in kept) / len(kept))
