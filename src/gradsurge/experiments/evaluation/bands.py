"""How far a reliability curve would move with other cases: the cases are drawn again."""

from collections.abc import Sequence

import numpy as np

from gradsurge.calibration.reliability import ReliabilityCurve
from gradsurge.calibration.scores import Bins


def resampled_reliability(
    cases: Sequence[Bins], confidence: float = 0.95, resamples: int = 1000, seed: int = 0
) -> ReliabilityCurve:
    """Return the pooled reliability curve with percentile intervals over resampled cases.

    Voxels of a case hang together; cases do not. A bin that occurs in one case only has no
    interval: NaN.

    Args:
        cases: the bins of each case, all of the same number.
        confidence: of the intervals.
        resamples: how often as many cases are drawn, with replacement.
        seed: of the draws.
    """
    counts = np.stack([c.counts for c in cases]).astype(np.float64)
    sums = np.stack([c.sums for c in cases])
    positives = np.stack([c.positives for c in cases]).astype(np.float64)
    number, bins = counts.shape
    weights = np.random.default_rng(seed).multinomial(
        number, np.full(number, 1 / number), size=resamples
    )
    with np.errstate(invalid="ignore"):
        total = counts.sum(0)
        frequency, probability = positives.sum(0) / total, sums.sum(0) / total
        drawn = (weights @ positives) / (weights @ counts)
    low, high = np.full(bins, np.nan), np.full(bins, np.nan)
    known = (counts > 0).sum(0) > 1
    tail = (1 - confidence) / 2
    if known.any():
        low[known], high[known] = np.nanquantile(drawn[:, known], (tail, 1 - tail), axis=0)
    borders = np.arange(bins + 1) / bins
    whole = total.astype(np.int64)
    return ReliabilityCurve(borders[:-1], borders[1:], whole, probability, frequency, low, high)
