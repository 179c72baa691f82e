"""Dice of the hard mask p > t, for every threshold t, and the threshold that maximises it."""

import math
from typing import NamedTuple

import numpy as np

from gradsurge.calibration.bounded import Bounded
from gradsurge.calibration.cells import Cells, cells
from gradsurge.calibration.histogram import Floats, Histogram
from gradsurge.calibration.scores import in_bins


class ThresholdCurve(NamedTuple):
    """Counts of the mask p > t at rising thresholds t, all exact."""

    thresholds: Floats
    true_positives: Floats
    false_positives: Floats
    false_negatives: Floats

    @property
    def dice(self) -> Floats:
        """2 TP / (2 TP + FP + FN); NaN where mask and label are both empty."""
        wrong = self.false_positives + self.false_negatives
        with np.errstate(invalid="ignore"):
            return 2 * self.true_positives / (2 * self.true_positives + wrong)


class BestThreshold(NamedTuple):
    """The Dice-optimal threshold of the pooled voxels, and the Dice there.

    ``dice.error`` bounds what a threshold between the ones tried could still gain.
    """

    threshold: float
    dice: Bounded


def threshold_curve(histogram: Histogram, thresholds: int = 100) -> ThresholdCurve:
    """Return the counts at ``thresholds`` equal steps 0, 1/n, ... (n divides the resolution)."""
    joined = in_bins(histogram, thresholds)
    return _curve(
        np.arange(thresholds) / thresholds, joined.counts - joined.positives, joined.positives
    )


def dice_at(histogram: Histogram, threshold: float) -> Bounded:
    """Dice of the mask p > ``threshold``: exact at multiples of 1/R, bounded between them."""
    if not 0.0 <= threshold <= 1.0:
        raise ValueError(f"threshold: expected a number in [0, 1], got {threshold}")
    found = cells(histogram)
    above = found.lower >= threshold - 1e-12
    inside = (found.upper > threshold + 1e-12) & ~above
    positives = histogram.positives
    hits, marked = found.positives[above].sum(), found.counts[above].sum()
    if positives + marked + found.counts[inside].sum() == 0:
        return Bounded(math.nan, math.nan)
    unsure_hits, unsure = found.positives[inside].sum(), found.negatives[inside].sum()
    high = 2 * (hits + unsure_hits) / max(positives + marked + unsure_hits, 1)
    low = 2 * hits / max(positives + marked + unsure, 1)
    return Bounded((high + low) / 2, (high - low) / 2)


def best_threshold(histogram: Histogram) -> BestThreshold:
    """Return the threshold with the highest Dice; of several, the one nearest to 1/2."""
    found = cells(histogram)
    if not histogram.positives:
        return BestThreshold(math.nan, Bounded(math.nan, math.nan))
    curve = _curve(found.lower, found.negatives, found.positives)
    dice = curve.dice
    highest = float(dice.max())
    tied = np.flatnonzero(dice >= highest - 1e-15)
    chosen = tied[np.argmin(np.abs(curve.thresholds[tied] - 0.5))]
    gain = max(0.0, float(_best_inside(curve, found).max()) - highest)
    return BestThreshold(float(curve.thresholds[chosen]), Bounded(highest, gain))


def _curve(thresholds: Floats, negatives: np.ndarray, positives: np.ndarray) -> ThresholdCurve:
    """Cut below each of the given groups of pairs, which rise with p."""
    hits = np.cumsum(positives[::-1])[::-1].astype(np.float64)
    false = np.cumsum(negatives[::-1])[::-1].astype(np.float64)
    return ThresholdCurve(thresholds, hits, false, float(positives.sum()) - hits)


def _best_inside(curve: ThresholdCurve, found: Cells) -> Floats:
    """Dice if each cell's negatives all lay below its positives, and the cut between them."""
    false = curve.false_positives - np.where(found.lower < found.upper, found.negatives, 0)
    return ThresholdCurve(curve[0], curve.true_positives, false, curve.false_negatives).dice
