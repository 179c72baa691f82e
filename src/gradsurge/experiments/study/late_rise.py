"""Whether trainings had come to their end: what the last steps still brought."""

import math
from collections.abc import Sequence

from gradsurge.experiments.study.record import Record

LAST = 0.2
"""Share of a training's steps that counts as its end."""


def late_rise(curve: Sequence[Sequence[float]], last: float = LAST) -> float | None:
    """Return by how much validation Dice rose over the last steps.

    Args:
        curve: [step, Dice] of the validations, by step; the last one is of the end.
        last: share of the steps; from the last validation before them on.

    Returns:
        the rise; None where no validation is that early.

    >>> round(late_rise([[200, 0.5], [800, 0.7], [900, 0.69], [1000, 0.71]]), 3)
    0.01
    >>> late_rise([[1000, 0.71]]) is None
    True
    """
    if not curve:
        return None
    steps, end = curve[-1]
    # Rounded: 0.8 times 500 may be a hair below 400.
    before = [dice for step, dice in curve if step <= round(steps * (1 - last), 6)]
    return end - before[-1] if before else None


def told_rise(records: Sequence[Record]) -> str | None:
    """Return a sentence on the runs of whole losses, without variants; None where no curve is kept.

    >>> told_rise([]) is None
    True
    """
    runs = [record for record in records if "." not in record.variant]
    rises = [late_rise(record.training.get("curve", ())) for record in runs]
    known = [100 * rise for rise in rises if rise is not None]
    if not known:
        return None
    mean = math.fsum(known) / len(known)
    return (
        f"Over the last fifth of the steps validation Dice rose by {mean:.1f} points on average "
        f"({min(known):.1f} to {max(known):.1f}; {len(known)} of {len(runs)} runs of whole "
        f"losses, those whose validations are kept)."
    )
