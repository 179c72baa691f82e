"""Dice of the hard mask p > t, for every threshold t, and the threshold that maximises it."""

import math
from typing import NamedTuple

import numpy as np

from gradsurge.calibration.bounded import Bounded
from gradsurge.calibration.cells import Cells, cells
from gradsurge.calibration.histogram import TAIL_START, Floats, Histogram
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
    negatives, positives = joined.counts - joined.positives, joined.positives
    curve = _curve(np.arange(thresholds) / thresholds, negatives, positives)
    never, missed = histogram.tails[:, 0, 0]  # p = 0 is in the first bin, but not above 0
    curve.false_positives[0] -= never
    curve.true_positives[0] -= missed
    curve.false_negatives[0] += missed
    return curve


def dice_at(histogram: Histogram, threshold: float) -> Bounded:
    """Dice of the mask p > ``threshold``: exact at multiples of 1/R, bounded between them."""
    if not 0.0 <= threshold <= 1.0:
        raise ValueError(f"threshold: expected a number in [0, 1], got {threshold}")
    false, hits, unsure, unsure_hits = (int(n) for n in _marked(histogram, threshold))
    positives = histogram.positives
    if positives + false + unsure == 0:
        return Bounded(math.nan, math.nan)
    everyone = positives + false + hits
    high = 2 * (hits + unsure_hits) / max(everyone + unsure_hits, 1)
    low = 2 * hits / max(everyone + unsure, 1)
    return Bounded((high + low) / 2, (high - low) / 2)


def _marked(histogram: Histogram, threshold: float) -> tuple[int, int, int, int]:
    """Return the negatives and positives surely above a threshold, and those perhaps above."""
    step = round(threshold * histogram.resolution)
    if step / histogram.resolution == threshold:
        above = histogram.counts[:, step:].sum(axis=1)
        above -= 0 if step else histogram.tails[:, 0, 0]  # p = 0 is in the first bin
        return above[0], above[1], 0, 0
    found = cells(histogram)
    sure = found.lower > threshold
    perhaps = (found.upper > threshold) & ~sure
    counts = found.negatives, found.positives
    false, hits, unsure, unsure_hits = (c[w].sum() for w in (sure, perhaps) for c in counts)
    return false, hits, unsure, unsure_hits


def best_threshold(histogram: Histogram) -> BestThreshold:
    """Return the threshold with the highest Dice; of several, the one nearest to 1/2."""
    if not histogram.positives:
        return BestThreshold(math.nan, Bounded(math.nan, math.nan))
    found = cells(histogram)
    curve = _curve(_nearest_cuts(found, histogram.resolution), found.negatives, found.positives)
    reached = found.upper > 0.0  # no threshold marks p = 0
    dice = np.where(reached, curve.dice, 0.0)
    highest = float(dice.max())
    tied = np.flatnonzero(dice >= highest - 1e-15)
    chosen = tied[np.argmin(np.abs(curve.thresholds[tied] - 0.5))]
    gain = max(0.0, float(_best_inside(curve, found)[reached].max(initial=0.0)) - highest)
    return BestThreshold(float(curve.thresholds[chosen]), Bounded(highest, gain))


def _nearest_cuts(found: Cells, resolution: int) -> Floats:
    """Return for each cell the threshold nearest to 1/2 that marks it and nothing below it."""
    start = np.concatenate(([0.0], found.upper[:-1]))
    closed = found.lower >= (resolution - TAIL_START) / resolution  # distances from 1 are (lo, hi]
    end = np.where(closed, np.nextafter(found.lower, 0.0), found.lower)
    cuts: Floats = np.minimum(np.maximum(start, 0.5), end)
    return cuts


def _curve(thresholds: Floats, negatives: np.ndarray, positives: np.ndarray) -> ThresholdCurve:
    """Cut below each of the given groups of pairs, which rise with p."""
    hits = np.cumsum(positives[::-1])[::-1].astype(np.float64)
    false = np.cumsum(negatives[::-1])[::-1].astype(np.float64)
    return ThresholdCurve(thresholds, hits, false, float(positives.sum()) - hits)


def _best_inside(curve: ThresholdCurve, found: Cells) -> Floats:
    """Dice if each cell's negatives all lay below its positives, and the cut between them."""
    false = curve.false_positives - np.where(found.lower < found.upper, found.negatives, 0)
    return ThresholdCurve(curve[0], curve.true_positives, false, curve.false_negatives).dice
