"""Whether trainings had come to their end: what the last steps still brought."""

import math
from collections.abc import Sequence

import numpy as np

from gradsurge.experiments.study.record import Record
from gradsurge.losses import LOSSES

LAST = 0.2
"""Share of a training's steps that counts as its end."""


def late_rise(curve: Sequence[Sequence[float]], steps: int) -> float | None:
    """Return by how much validation Dice rose over the last fifth of the steps.

    Where no validation is at four fifths, it is as if Dice had risen evenly between those round it.

    Args:
        curve: [step, Dice] of the validations, by step.
        steps: of the training.

    Returns:
        the rise; None where the end, or nothing before the last fifth, was validated.

    >>> curve = [[200, 0.5], [800, 0.7], [900, 0.69], [1000, 0.71]]
    >>> round(late_rise(curve, 1000), 3)
    0.01
    >>> late_rise([[1000, 0.71]], 1000) is None
    True
    """
    places, dice = [step for step, _ in curve], [value for _, value in curve]
    begin = (1 - LAST) * steps
    if not places or places[-1] != steps or places[0] > begin:
        return None
    return float(dice[-1] - np.interp(begin, places, dice))


def rise_of(record: Record) -> float | None:
    """Return the `late_rise` of a run; None where its record keeps no validations."""
    training = record.training
    return late_rise(training.get("curve", ()), training.get("steps", 0))


def told_rise(records: Sequence[Record]) -> str | None:
    """Return a sentence on the runs of whole losses, without variants; None where no curve is kept.

    >>> told_rise([]) is None
    True
    """
    runs = [record for record in records if record.variant in LOSSES]
    rises = [rise_of(record) for record in runs]
    known = [100 * rise for rise in rises if rise is not None]
    if not known:
        return None
    mean = math.fsum(known) / len(known)
    return (
        f"Over the last fifth of the steps validation Dice rose by {mean:.1f} points on average "
        f"({min(known):.1f} to {max(known):.1f}; {len(known)} of {len(runs)} runs of whole "
        f"losses, those whose validations are kept)."
    )
