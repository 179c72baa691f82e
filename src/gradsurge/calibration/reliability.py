"""The reliability curve: how often an event happened where it was given probability p."""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from gradsurge.calibration.histogram import Counts, Floats, Histogram
from gradsurge.calibration.scores import BINS, in_bins


class ReliabilityCurve(NamedTuple):
    """A row a bin (lo, hi]; NaN where a bin is empty.

    ``low`` and ``high`` are Wilson's interval for the frequency. It takes the voxels as
    independent, which neighbours in an image are not: for a statement about new cases, resample
    the cases.
    """

    lower: Floats
    upper: Floats
    counts: Counts
    probability: Floats
    frequency: Floats
    low: Floats
    high: Floats


def reliability_curve(
    histogram: Histogram, bins: int = BINS, confidence: float = 0.95
) -> ReliabilityCurve:
    """Return mean probability, frequency and its interval a bin; all exact."""
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence: expected a number between 0 and 1, got {confidence}")
    joined = in_bins(histogram, bins)
    borders = np.arange(bins + 1) / bins
    counts = np.where(joined.counts, joined.counts, np.nan)
    frequency = joined.positives / counts
    low, high = wilson(frequency, counts, confidence)
    return ReliabilityCurve(
        borders[:-1], borders[1:], joined.counts, joined.sums / counts, frequency, low, high
    )


def wilson(frequency: Floats, counts: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Return Wilson's score interval of a frequency among ``counts`` independent trials."""
    z = float(ndtri((1.0 + confidence) / 2))
    weight = 1.0 / (1.0 + z * z / counts)
    centre = weight * (frequency + z * z / (2 * counts))
    spread = weight * z * np.sqrt(frequency * (1 - frequency) / counts + (z / (2 * counts)) ** 2)
    return np.maximum(centre - spread, 0.0), np.minimum(centre + spread, 1.0)
