"""What a set of (probability, outcome) pairs leaves behind: counts and sums in fine bins.

The bins are uniform, (k/R, (k+1)/R] with 0 in the first; R = 25200 is a multiple of every usual
number of bins, so the calibration errors of those follow exactly. Most voxels of a medical image
lie within 1/1000 of 0 or 1, where ranks, equal-mass bins and temperatures are decided: these are
counted a second time in tails of 32 bins an octave.
"""

from dataclasses import dataclass, field, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from gradsurge.calibration.whole_numbers import check_whole_number

RESOLUTION = 25200
TAIL_START = 32  # uniform bins at either end that the tails divide further
TAIL_SHIFT = 18  # float32 bits below the exponent and five bits of the mantissa: 32 bins an octave
CLIP = 2.0**-24  # an outcome's probability below this counts as this in the NLL of probabilities

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]


def tail_bins(distance: NDArray[np.float32]) -> NDArray[np.int32]:
    """Return the tail bin of distances from 0 or 1: (low, high] by the bits of the float, 0 for 0.

    >>> tail_bins(np.array([0, 1e-45, 1e-6], np.float32))
    array([   0,    1, 3426], dtype=int32)
    """
    bits: NDArray[np.int32] = distance.view(np.int32)
    return (bits + np.int32((1 << TAIL_SHIFT) - 1)) >> TAIL_SHIFT


def tail_edges(number: int) -> Floats:
    """Return the largest float64 distances that the first tail bins take, 0 for bin 0.

    Half a float32 step above the edge still rounds to it. Below 2^-150 all rounds to 0.
    """
    edges = (np.arange(number, dtype=np.int32) << TAIL_SHIFT).view(np.float32)
    largest: Floats = edges.astype(np.float64) + np.spacing(edges).astype(np.float64) / 2
    largest[0] = 0.0
    return largest


@dataclass
class Histogram:
    """Sums over pairs of a probability p and an outcome y, no or yes. Histograms add up.

    Attributes:
        counts: (2, R) number of pairs a bin, by outcome.
        sums: (2, R) sum of p a bin, by outcome.
        edges: (2, R) number of pairs with p exactly at the upper edge of the bin, by outcome: what
            is needed to see the bins from the other end, as bins of 1 - p.
        tails: (2, 2, T) number of pairs within `TAIL_START` bins of 0 and of 1, by outcome, then
            end, then distance in bins of `tail_bins`; a distance below 2^-150 counts as 0.
        nll: sum of -log P(y).
        squares: sum of (p - y)^2.
        clipped: pairs whose P(y) was below `CLIP` and counted as that in ``nll``.
    """

    resolution: int = RESOLUTION
    counts: Counts = field(init=False)
    sums: Floats = field(init=False)
    edges: Counts = field(init=False)
    tails: Counts = field(init=False)
    nll: float = 0.0
    squares: float = 0.0
    clipped: int = 0

    def __post_init__(self) -> None:
        """Start empty."""
        check_whole_number("resolution", self.resolution)
        if self.resolution < 4 * TAIL_START or self.resolution % 2:
            raise ValueError(
                f"resolution: expected an even number of at least {4 * TAIL_START} bins, "
                f"got {self.resolution}"
            )
        self.counts = np.zeros((2, self.resolution), np.int64)
        self.sums = np.zeros((2, self.resolution), np.float64)
        self.edges = np.zeros((2, self.resolution), np.int64)
        start = np.array([TAIL_START / self.resolution], np.float32)
        self.tails = np.zeros((2, 2, int(tail_bins(start)[0]) + 1), np.int64)

    @property
    def total(self) -> int:
        """Number of pairs."""
        return int(self.counts.sum())

    @property
    def positives(self) -> int:
        """Number of pairs with outcome yes."""
        return int(self.counts[1].sum())

    def __iadd__(self, other: "Histogram") -> Self:
        if self.resolution != other.resolution:
            raise ValueError(
                f"histograms of different resolutions do not add up: {self.resolution} and "
                f"{other.resolution}"
            )
        for item in fields(self)[1:]:
            setattr(self, item.name, getattr(self, item.name) + getattr(other, item.name))
        return self

    def mirrored(self) -> "Histogram":
        """Return the histogram of 1 - p and the opposite outcome, exactly."""
        image = Histogram(self.resolution)
        upper = np.arange(1, self.resolution + 1) / self.resolution
        # (a, b] seen from the other end is [1-b, 1-a): pairs on an edge change their bin.
        inside, inner_sums = self.counts - self.edges, self.sums - self.edges * upper
        image.edges[:, :-1] = _turn(self.edges)[:, 1:]
        image.counts = _turn(inside) + image.edges
        image.sums = _turn(inside - inner_sums) + image.edges * upper
        # p = 1 becomes 0, in the first bin and on no edge; p = 0 becomes 1, the last upper edge.
        image.counts[:, 0] += self.edges[::-1, -1]
        image.edges[:, -1] = self.tails[::-1, 0, 0]
        image.tails = self.tails[::-1, ::-1].copy()
        image.nll, image.squares, image.clipped = self.nll, self.squares, self.clipped
        return image


def _turn(values: NDArray[Any]) -> NDArray[Any]:
    return values[::-1, ::-1].copy()
