"""Weighted logistic fits on the cells of a histogram: sigmoid(scale · z + bias) of the log-odds z.

The objective, the NLL of the cells, is convex. On separable data it has no minimum, the scale would
grow for ever; so the scale has bounds, and at them the slope of the objective tells that it stopped
there. The bias needs none: with both outcomes present its optimum is finite.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import toms748
from scipy.special import expit

from gradsurge.calibration.cells import cells
from gradsurge.calibration.histogram import Floats, Histogram
from gradsurge.calibration.recalibration.log_odds import Span, cell_log_odds, span_of
from gradsurge.calibration.temperature_curve import INVERSE_TEMPERATURES

# 1/T of the temperatures that a multiclass fit may take: 20 to 0.1. Positive keeps the ranking.
SCALES = float(INVERSE_TEMPERATURES[0]), float(INVERSE_TEMPERATURES[-1])
_TOLERANCE = 1e-8
_STEP = 0.01  # of the log-odds


class Line(NamedTuple):
    """sigmoid(scale · z + bias) for z within a span, and what to say about the fit."""

    scale: float
    bias: float
    span: Span
    note: str | None = None
    at_bound: bool = False


class _Cells(NamedTuple):
    """Log-odds, and the share of all pairs that are negative and positive there."""

    z: Floats
    negatives: Floats
    positives: Floats

    def excess(self, scale: float, bias: float) -> Floats:
        """Return p minus outcome, summed a cell; small shares keep their relative precision."""
        log_odds = scale * self.z + bias
        excess: Floats = self.negatives * expit(log_odds) - self.positives * expit(-log_odds)
        return excess

    def slope(self, scale: float, bias: float) -> float:
        """Derivative of the mean NLL by the scale."""
        return float(self.excess(scale, bias) @ self.z)

    def best_bias(self, scale: float) -> float:
        """Return the bias at which the mean of p is the frequency: the optimum at this scale."""
        frequency = float(self.positives.sum())
        centre = np.log(frequency) - np.log1p(-frequency)
        low, high = centre - scale * self.z[-1] - 0.1, centre - scale * self.z[0] + 0.1
        return _root(lambda bias: float(self.excess(scale, bias).sum()), low, high)


def fit_scale(histogram: Histogram) -> Line:
    """Fit the scale alone; the bias stays 0."""
    return _fit_line(histogram, lambda found, scale: 0.0)


def fit_bias(histogram: Histogram) -> Line:
    """Fit the bias alone; the scale stays 1."""
    span = span_of(histogram)
    if note := one_sided(histogram):
        return Line(1.0, 0.0, span, note)
    return Line(1.0, _cells_of(histogram, span).best_bias(1.0), span)


def fit_scale_and_bias(histogram: Histogram) -> Line:
    """Fit both: along the scale, with the best bias at each."""
    if _cells_of(histogram, span_of(histogram)).z.size == 1:
        note = one_sided(histogram) or "all voxels alike, only a bias was fitted"
        return fit_bias(histogram)._replace(note=note)
    return _fit_line(histogram, _Cells.best_bias)


def _fit_line(histogram: Histogram, bias_at: Callable[[_Cells, float], float]) -> Line:
    span = span_of(histogram)
    if note := one_sided(histogram):
        return Line(1.0, 0.0, span, note)
    found = _cells_of(histogram, span)
    if not found.z.any():
        return Line(1.0, 0.0, span, "all voxels at 1/2, left unchanged")

    def slope(scale: float) -> float:
        return found.slope(scale, bias_at(found, scale))

    smallest, largest = SCALES
    if slope(smallest) >= 0.0:
        return _at_bound(smallest, bias_at(found, smallest), span)
    if slope(largest) <= 0.0:
        return _at_bound(largest, bias_at(found, largest), span)
    scale = _root(slope, smallest, largest)
    return Line(scale, bias_at(found, scale), span)


def one_sided(histogram: Histogram) -> str | None:
    """Return the note for a histogram with one outcome only, from which nothing can be learnt."""
    if 0 < histogram.positives < histogram.total:
        return None
    missing = "negative" if histogram.positives else "positive"
    return f"no {missing} among {histogram.total} voxels, left unchanged"


def _cells_of(histogram: Histogram, span: Span) -> _Cells:
    """Join cells nearer than `_STEP`, which is half the width of those in the tails."""
    found = cells(histogram)
    z = cell_log_odds(found, span)
    _, group = np.unique(np.floor(z / _STEP), return_inverse=True)
    negatives, positives = (np.bincount(group, n) for n in (found.negatives, found.positives))
    counts, total = negatives + positives, float(histogram.total)
    means = np.bincount(group, z * found.counts) / counts
    return _Cells(means, negatives / total, positives / total)


def _at_bound(scale: float, bias: float, span: Span) -> Line:
    if scale >= SCALES[1]:
        reason = "positives and negatives are separable, or nearly; a larger one would fit better"
    else:
        reason = "higher outputs do not mean more positives; a smaller one would fit better"
    note = f"scale at its bound {scale:g} (temperature {1 / scale:g}): {reason}"
    return Line(scale, bias, span, note, at_bound=True)


def _root(slope: Callable[[float], float], low: float, high: float) -> float:
    """Return where a rising function crosses 0."""
    return float(toms748(slope, low, high, xtol=_TOLERANCE, rtol=_TOLERANCE))
