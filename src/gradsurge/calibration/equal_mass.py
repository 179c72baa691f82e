"""Adaptive calibration error: bins that hold equally many pairs."""

import math

import numpy as np

from gradsurge.calibration.bounded import Bounded
from gradsurge.calibration.cells import Cells, cells
from gradsurge.calibration.histogram import Floats, Histogram
from gradsurge.calibration.scores import BINS
from gradsurge.calibration.whole_numbers import check_whole_number


def equal_mass_ece(histogram: Histogram, bins: int = BINS) -> Bounded:
    """Mean of |mean p - frequency| over ``bins`` bins of N/bins pairs each, in the order of p.

    A border that falls into a cell divides it in proportion. The bound covers every order of the
    cell's pairs and, in the tails, every place of a pair within its cell.
    """
    check_whole_number("bins", bins)
    if bins < 1:
        raise ValueError(f"bins: expected at least 1, got {bins}")
    total = histogram.total
    if not total:
        return Bounded(math.nan, math.nan)
    found = cells(histogram)
    ends = np.cumsum(found.counts).astype(np.float64)
    borders = np.arange(1, bins) * (total / bins)
    cuts = np.union1d(np.concatenate(([0.0], ends)), borders)
    size = np.diff(cuts)  # pieces of cells, each in one bin
    centre = cuts[:-1] + size / 2
    cell, chosen = np.searchsorted(ends, centre), np.searchsorted(borders, centre)
    share = size / found.counts[cell]
    excess = share * (found.p * found.counts - found.positives)[cell]
    gaps = np.abs(np.bincount(chosen, excess, bins))
    return Bounded(float(gaps.sum()) / total, float(_uncertainty(found, cell, size).sum()) / total)


def _uncertainty(found: Cells, cell: np.ndarray, size: Floats) -> Floats:
    """Bound how far |Σp - Σy| of each piece can be from its proportional share."""
    count = found.counts[cell].astype(np.float64)
    positives = found.positives[cell].astype(np.float64)
    expected = positives * size / count
    fewest = np.maximum(0.0, positives - (count - size))
    labels = np.maximum(expected - fewest, np.minimum(positives, size) - expected)
    width = (found.upper - found.lower)[cell]
    whole = size >= count
    places = np.where(whole & found.exact[cell], 0.0, size * width)
    return np.where(whole, 0.0, labels) + places
