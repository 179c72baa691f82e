"""The cells of a histogram after a recalibration: where their pairs have moved, within bounds."""

from typing import NamedTuple

import numpy as np

from gradsurge.calibration.bounded import Bounded
from gradsurge.calibration.cells import cells
from gradsurge.calibration.histogram import CLIP, Counts, Flags, Floats, Histogram
from gradsurge.calibration.recalibration.log_odds import Span, cell_log_odds
from gradsurge.calibration.recalibration.recalibration import Recalibration
from gradsurge.calibration.scores import BINS

_ROUNDING = 1e-12  # of a map: nearer than this to a threshold or an edge is at it
_FAR = 104.0  # a distance below 2^-150 is 0: no log-odds are beyond


class MovedCells(NamedTuple):
    """Cells by rising p. All pairs of a cell lie in [lower, upper], since the map rises.

    Both ends included if the map may be ``flat``, else the lower one is not. ``p`` is where the
    cell's mean went, which stands for all its pairs.
    """

    lower: Floats
    p: Floats
    upper: Floats
    negatives: Counts
    positives: Counts
    flat: bool

    @property
    def counts(self) -> Counts:
        """Number of pairs."""
        return self.negatives + self.positives

    def nll(self) -> Bounded:
        """Mean of -log P(outcome), with P below 2^-24 counted as that, as in a sketch."""

        def cost(p_of_negatives: Floats, p_of_positives: Floats) -> float:
            return float(
                self.negatives @ -np.log(np.maximum(1.0 - p_of_negatives, CLIP))
                + self.positives @ -np.log(np.maximum(p_of_positives, CLIP))
            )

        return self._mean(
            cost(self.p, self.p), cost(self.lower, self.upper), cost(self.upper, self.lower)
        )

    def brier(self) -> Bounded:
        """Mean of (p - y)^2."""

        def cost(p_of_negatives: Floats, p_of_positives: Floats) -> float:
            return float(
                self.negatives @ p_of_negatives**2 + self.positives @ (1.0 - p_of_positives) ** 2
            )

        return self._mean(
            cost(self.p, self.p), cost(self.lower, self.upper), cost(self.upper, self.lower)
        )

    def ece(self, bins: int = BINS) -> Bounded:
        """Expected calibration error in equal-width bins (lo, hi]."""
        chosen = _bin_of(self.p, bins)
        excess = self.p * self.counts - self.positives
        gaps = np.abs(np.bincount(chosen, excess, bins))
        doubt = self._drift() + 2 * np.where(self._straddles(bins), self._largest(), 0.0)
        return Bounded(float(gaps.sum() / self.counts.sum()), doubt.sum() / self.counts.sum())

    def mce(self, bins: int = BINS) -> Bounded:
        """Maximum calibration error: the largest gap of a bin that is not empty."""
        chosen, straddles = _bin_of(self.p, bins), self._straddles(bins)
        counts = np.bincount(chosen, self.counts, bins)
        excess = np.abs(np.bincount(chosen, self.p * self.counts - self.positives, bins))
        largest = self._largest()
        leaving = np.bincount(chosen, np.where(straddles, self.counts, 0), bins)
        entering = np.zeros(bins)
        doubt = np.bincount(chosen, self._drift() + straddles * largest, bins)
        low, high = self._lowest_bin(bins), _bin_of(self.upper, bins)
        for cell in np.flatnonzero(straddles):
            others = [b for b in range(low[cell], high[cell] + 1) if b != chosen[cell]]
            entering[others] += self.counts[cell]
            doubt[others] += largest[cell]
        with np.errstate(divide="ignore", invalid="ignore"):
            gaps = np.where(counts > 0, excess / counts, 0.0)
            most = np.where(counts > leaving, (excess + doubt) / (counts - leaving), 1.0)
            least = np.where(counts > 0, (excess - doubt) / (counts + entering), 0.0)
        most = np.where(counts + entering > 0, np.minimum(most, 1.0), 0.0)
        value = float(gaps.max())
        return Bounded(value, max(float(most.max()) - value, value - float(least.max()), 0.0))

    def dice_at(self, threshold: float = 0.5) -> Bounded:
        """Dice of the mask p > threshold; NaN where mask and label are both empty."""
        below = self.upper <= threshold + _ROUNDING
        above = self.lower > threshold + (_ROUNDING if self.flat else -_ROUNDING)
        above &= ~below
        unsure = ~above & ~below
        positives = int(self.positives.sum())
        hits, marked = self.positives[above].sum(), self.counts[above].sum()
        if not positives + marked + self.counts[unsure].sum():
            return Bounded(np.nan, np.nan)
        more, false = self.positives[unsure].sum(), self.negatives[unsure].sum()
        high = 2 * (hits + more) / max(positives + marked + more, 1)
        low = 2 * hits / max(positives + marked + false, 1)
        return Bounded((high + low) / 2, (high - low) / 2)

    def best_dice(self) -> Bounded:
        """Dice at the threshold that is best; the error is what one inside a cell could gain."""
        if not self.positives.any():
            return Bounded(np.nan, np.nan)
        hits = np.cumsum(self.positives[::-1])[::-1]
        marked = np.cumsum(self.counts[::-1])[::-1]
        cuts = np.diff(self.p, prepend=-1.0) > 0.0
        highest = float((2 * hits / (marked + hits[0]))[cuts].max())
        sharpest = marked - np.where(self.lower < self.upper, self.negatives, 0)
        possible = cuts | (self.lower < self.upper)
        gain = float((2 * hits / (sharpest + hits[0]))[possible].max()) - highest
        return Bounded(highest, max(gain, 0.0))

    def _mean(self, value: float, low: float, high: float) -> Bounded:
        total = float(self.counts.sum())
        return Bounded(value / total, max(high - value, value - low, 0.0) / total)

    def _drift(self) -> Floats:
        """Bound how far the sum of p in a cell is from that of its mean."""
        return np.maximum(self.upper - self.p, self.p - self.lower) * self.counts.astype(np.float64)

    def _largest(self) -> Floats:
        """Bound the sum of |p - y| over any of the pairs of a cell."""
        largest: Floats = self.negatives * self.upper + self.positives * (1.0 - self.lower)
        return largest

    def _straddles(self, bins: int) -> Flags:
        inside = self.lower >= self.upper
        crosses: Flags = self._lowest_bin(bins) != _bin_of(self.upper, bins)
        return crosses & ~inside

    def _lowest_bin(self, bins: int) -> Counts:
        """Return the lowest bin that pairs of a cell may be in."""
        if self.flat:
            return _bin_of(self.lower, bins)
        return np.clip(np.floor(self.lower * bins + _ROUNDING).astype(np.int64), 0, bins - 1)


def move(histogram: Histogram, recalibration: Recalibration, channel: int = 0) -> MovedCells:
    """Carry the cells of a channel of ``recalibration`` (not multiclass) through it."""
    found = cells(histogram)
    with np.errstate(divide="ignore"):
        edges = [np.log(edge) - np.log1p(-edge) for edge in (found.lower, found.upper)]
    below, above = (np.clip(edge, -_FAR, _FAR) for edge in edges)
    z = np.stack((below, cell_log_odds(found, Span(-_FAR, _FAR)), above))
    if recalibration.kind == "binary":
        lower, p, upper = recalibration.apply_logits(z)
    else:
        every = np.broadcast_to(z, (recalibration.channels, *z.shape))
        lower, p, upper = recalibration.apply_logits(every, channel_axis=0)[channel]
    return MovedCells(
        np.minimum(lower, p),
        p,
        np.maximum(upper, p),
        found.negatives,
        found.positives,
        recalibration.flat,
    )


def _bin_of(p: Floats, bins: int) -> Counts:
    """Return the bin (lo, hi] of p, 0 in the first."""
    return np.clip(np.ceil(p * bins - _ROUNDING).astype(np.int64) - 1, 0, bins - 1)
