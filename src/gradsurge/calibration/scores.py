"""Exact scores of a histogram: negative log-likelihood, Brier, and calibration errors in bins."""

import math
from typing import NamedTuple

import numpy as np

from gradsurge.calibration.histogram import Counts, Floats, Histogram
from gradsurge.calibration.whole_numbers import check_whole_number

BINS = 15


class Bins(NamedTuple):
    """Equal-width bins (lo, hi] of a histogram: number of pairs, sum of p, number of positives."""

    counts: Counts
    sums: Floats
    positives: Counts

    @property
    def gaps(self) -> Floats:
        """|mean p - frequency| a bin; NaN where a bin is empty."""
        with np.errstate(invalid="ignore"):
            return np.abs(self.sums - self.positives) / np.where(self.counts, self.counts, np.nan)


def in_bins(histogram: Histogram, bins: int = BINS) -> Bins:
    """Join the fine bins to ``bins`` equal ones: exact, so the number must divide the resolution.

    Raises:
        ValueError: for a number of bins that does not divide the resolution.
    """
    check_whole_number("bins", bins)
    size = histogram.resolution
    if bins < 1 or size % bins:
        near = min((b for b in range(1, size + 1) if size % b == 0), key=lambda b: abs(b - bins))
        raise ValueError(f"bins: expected a divisor of {size}, got {bins}; the nearest is {near}")
    counts = histogram.counts.reshape(2, bins, -1).sum(axis=2)
    sums = histogram.sums.sum(axis=0).reshape(bins, -1).sum(axis=1)
    return Bins(counts.sum(axis=0), sums, counts[1])


def nll(histogram: Histogram) -> float:
    """Mean of -log P(outcome)."""
    return _mean(histogram.nll, histogram)


def brier(histogram: Histogram) -> float:
    """Mean of (p - y)^2, the single-class form."""
    return _mean(histogram.squares, histogram)


def sharpness(histogram: Histogram) -> float:
    """Mean of p(1-p): the Brier score these forecasts would have if they were calibrated."""
    p, p_of_positives = float(histogram.sums.sum()), float(histogram.sums[1].sum())
    squares = histogram.squares + 2 * p_of_positives - histogram.positives  # of p
    return _mean(p - squares, histogram)


def ece(histogram: Histogram, bins: int = BINS) -> float:
    """Expected calibration error: mean of |mean p - frequency| over bins, weighted by counts."""
    joined = in_bins(histogram, bins)
    return _mean(float(np.abs(joined.sums - joined.positives).sum()), histogram)


def ace(histogram: Histogram, bins: int = BINS) -> float:
    """Average calibration error: the unweighted mean of the gaps of the bins that are not empty."""
    gaps = in_bins(histogram, bins).gaps
    return float(np.nanmean(gaps)) if histogram.total else math.nan


def mce(histogram: Histogram, bins: int = BINS, minimum: int = 1) -> float:
    """Maximum calibration error: the largest gap of the bins with at least ``minimum`` pairs."""
    joined = in_bins(histogram, bins)
    gaps = joined.gaps[joined.counts >= max(minimum, 1)]
    return float(gaps.max()) if gaps.size else math.nan


def _mean(total: float, histogram: Histogram) -> float:
    return total / histogram.total if histogram.total else math.nan
