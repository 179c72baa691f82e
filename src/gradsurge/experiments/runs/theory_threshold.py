"""Where theory puts the Dice-optimal threshold of a surgery model's raw probabilities."""

import math
from collections.abc import Sequence

from torch import nn

from gradsurge.calibration import CalibrationSketch
from gradsurge.experiments.runs.task import Task


def raw_threshold(dice: float, shift: float) -> float:
    """Return the cut of raw probabilities that is half the Dice of the posterior.

    For a true posterior r the Dice-optimal mask is r > D/2, D being the highest Dice. The model's
    logit is that of r, shifted by b, so the cut is sigmoid(logit(D/2) + b).

    Args:
        dice: the highest, D, in (0, 1].
        shift: b.

    >>> round(raw_threshold(0.8, math.log((2 - 0.8) / 0.8)), 6)  # Dice loss alone: 1/2 whatever D
    0.5
    >>> round(raw_threshold(0.8, 0.0), 6)  # no shift: half the Dice
    0.4
    """
    odds = dice / (2 - dice) * math.exp(shift)
    return odds / (1 + odds)


def theory_thresholds(
    task: Task, loss: nn.Module, sketch: CalibrationSketch
) -> tuple[float, ...] | None:
    """Return the theory's cut for each foreground, from the shift that the loss measured.

    None for several exclusive classes, where the likeliest of all is no cut of one probability,
    and where a class has no Dice.

    Args:
        task: what the model tells.
        loss: with the equilibrium it measured.
        sketch: of the raw validation logits.
    """
    if task.kind == "multiclass":
        return None
    shifts: Sequence[float] = loss.equilibrium_shift().tolist()  # type: ignore[operator]
    dice = [float(sketch.best_threshold(c).dice) for c in sketch.foreground]
    if not all(d > 0 for d in dice):
        return None
    return tuple(raw_threshold(d, b) for d, b in zip(dice, shifts[-len(dice) :], strict=True))
