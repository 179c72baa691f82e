"""How well the probabilities rank: area under the ROC curve, average precision."""

import math

import numpy as np

from gradsurge.calibration.bounded import Bounded
from gradsurge.calibration.cells import cells
from gradsurge.calibration.histogram import Histogram


def auroc(histogram: Histogram) -> Bounded:
    """Probability that a positive ranks above a negative, ties counted half.

    Pairs within one cell count as ties, which bounds the error by half their share.
    """
    found = cells(histogram)
    pairs = float(histogram.positives) * float(histogram.total - histogram.positives)
    if not pairs:
        return Bounded(math.nan, math.nan)
    below = np.cumsum(found.negatives) - found.negatives
    tied = found.positives * found.negatives.astype(np.float64)
    wins = float((found.positives * below.astype(np.float64)).sum()) + float(tied.sum()) / 2
    unknown = float(tied[found.lower < found.upper].sum()) / 2
    return Bounded(wins / pairs, unknown / pairs)


def average_precision(histogram: Histogram) -> Bounded:
    """Precision averaged over the positives, each at its own rank: Σ (R_n - R_(n-1)) P_n.

    Pairs within one cell count as ties. Their true order moves the precision of a positive at most
    between that of all the cell's negatives first and that of none of them.
    """
    found = cells(histogram)
    if not histogram.positives:
        return Bounded(math.nan, math.nan)
    negatives, positives = (a[::-1].astype(np.float64) for a in (found.negatives, found.positives))
    above = np.cumsum(positives) - positives
    wrong = np.cumsum(negatives) - negatives
    everyone = above + wrong + positives
    with np.errstate(invalid="ignore", divide="ignore"):
        tied = positives * (above + positives) / (everyone + negatives)
        best = np.where(positives, positives * (above + positives) / everyone, 0.0)
        last = above + wrong + negatives
        # The k-th positive has 1 - (wrong + negatives)/(last + k); Σ 1/(last + k) is at most this.
        harmonic = np.log1p(positives / (last + 0.5))
        worst = positives - (wrong + negatives) * harmonic
    open_cells = (found.lower < found.upper)[::-1]
    best, worst = (np.where(open_cells, bound, tied) for bound in (best, worst))
    error = max(float((best - tied).sum()), float((tied - worst).sum()), 0.0)
    return Bounded(float(tied.sum()) / histogram.positives, error / histogram.positives)
