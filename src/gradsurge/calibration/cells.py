"""The finest ordered partition of [0, 1] a histogram knows: what ranks and fits are made of."""

from dataclasses import dataclass

import numpy as np

from gradsurge.calibration.histogram import (
    TAIL_START,
    Counts,
    Flags,
    Floats,
    Histogram,
    tail_edges,
)


@dataclass(frozen=True)
class Cells:
    """Cells with at least one pair, by rising p.

    Within 32/R of 0 and 1 a cell is at most 2.2 % of its distance from that end wide, in between
    1/R. Equal values never fall into different cells.

    Attributes:
        lower, upper: edges; equal for the cell of p = 0 and that of p = 1.
        p, q: mean of p and of 1 - p: exact between the tails, the middle of the cell in them.
        negatives, positives: number of pairs with either outcome.
        exact: whether ``p`` is the exact mean.
    """

    lower: Floats
    upper: Floats
    p: Floats
    q: Floats
    negatives: Counts
    positives: Counts
    exact: Flags

    @property
    def counts(self) -> Counts:
        """Number of pairs."""
        return self.negatives + self.positives


def cells(histogram: Histogram) -> Cells:
    """Return the cells of a histogram."""
    size = histogram.resolution
    near = tail_edges(histogram.tails.shape[-1])
    near[-1] = TAIL_START / size
    start = np.concatenate(([0.0], near[:-1]))
    middle = (start + near) / 2
    middle_bins = np.arange(TAIL_START, size - TAIL_START)
    counts = histogram.counts[:, middle_bins].copy()
    sums = histogram.sums[:, middle_bins].sum(axis=0)
    on_edge = histogram.edges[:, middle_bins[-1]]  # belongs to the upper tail, which is closed
    counts[:, -1] -= on_edge
    sums[-1] -= on_edge.sum() * (size - TAIL_START) / size
    with np.errstate(invalid="ignore"):
        means = sums / counts.sum(axis=0)
    tail_counts = histogram.tails[:, 0], histogram.tails[:, 1, ::-1]
    negatives, positives = np.concatenate((tail_counts[0], counts, tail_counts[1]), axis=1)
    found = Cells(
        lower=np.concatenate((start, middle_bins / size, 1.0 - near[::-1])),
        upper=np.concatenate((near, (middle_bins + 1) / size, 1.0 - start[::-1])),
        p=np.concatenate((middle, means, 1.0 - middle[::-1])),
        q=np.concatenate((1.0 - middle, 1.0 - means, middle[::-1])),
        negatives=negatives,
        positives=positives,
        exact=np.concatenate((start == near, np.full(means.size, True), (start == near)[::-1])),
    )
    kept = found.counts > 0
    return Cells(*(getattr(found, name)[kept] for name in Cells.__dataclass_fields__))
