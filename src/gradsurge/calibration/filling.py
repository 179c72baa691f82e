"""The one pass over the voxels that fills a histogram.

Most voxels of a medical image are background with a probability below 1/R. Of these "quiet" ones
the histogram needs a count, two sums and the leading bits; only the others, the "busy" ones, are
sorted into the uniform bins. Blocks are read by several threads and summed in their order, so that
the result does not depend on the number of threads.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from gradsurge.calibration.histogram import (
    CLIP,
    TAIL_START,
    Counts,
    Flags,
    Floats,
    Histogram,
    tail_bins,
)

BLOCK = 1 << 18
_GROUP = 8  # blocks in flight: bounds the memory that busy voxels wait in


class _Read(NamedTuple):
    """A block: its quiet voxels summed, its busy ones picked out."""

    quiet: int
    total: float
    squares: float
    tail: Counts
    p: Floats
    y: Flags


def fill(histogram: Histogram, p: NDArray[np.floating], y: Flags, nll: float | None = None) -> None:
    """Count flat arrays of probabilities in [0, 1] (float32 or float64) and outcomes.

    Args:
        histogram: grows in place.
        p: probabilities of the outcome yes.
        y: outcomes.
        nll: the sum of -log P(y), where it is known better than p can tell: from logits.
    """
    before, clipped = histogram.nll, histogram.clipped
    size = histogram.resolution
    starts = range(0, p.size, BLOCK)
    threads = max(1, min(torch.get_num_threads(), len(starts)))
    # A pool a call, not a lasting one: its threads would not survive a fork of the process.
    with ThreadPoolExecutor(threads) as pool:
        each = map if threads == 1 else pool.map
        for first in range(0, len(starts), _GROUP):
            group = starts[first : first + _GROUP]
            reads = list(each(lambda s: _read(p[s : s + BLOCK], y[s : s + BLOCK], size), group))
            for read in reads:
                _add_quiet(histogram, read)
            for busy_p, busy_y in _gathered(reads):
                _add_busy(histogram, busy_p, busy_y)
    if nll is not None:
        histogram.nll, histogram.clipped = before + nll, clipped


def _read(p: NDArray[np.floating], y: Flags, resolution: int) -> _Read:
    busy = p >= 1.0 / resolution
    busy |= y
    where = np.flatnonzero(busy)
    quiet = p.copy()
    quiet[where] = 0.0
    exact = quiet.astype(np.float64, copy=False)
    tail = np.bincount(tail_bins(quiet.astype(np.float32, copy=False)))
    tail[0] -= where.size  # the busy ones, which stood in as zeros
    total, squares = float(exact.sum()), float(np.square(exact).sum())
    return _Read(p.size - where.size, total, squares, tail, p[where].astype(np.float64), y[where])


def _add_quiet(histogram: Histogram, read: _Read) -> None:
    histogram.counts[0, 0] += read.quiet
    histogram.sums[0, 0] += read.total
    histogram.squares += read.squares
    histogram.nll += read.total + read.squares / 2  # -log(1-p) = p + p²/2 + ..., p below 4e-5
    histogram.tails[0, 0, : read.tail.size] += read.tail


def _gathered(reads: list[_Read]) -> Iterator[tuple[Floats, Flags]]:
    """Yield the busy voxels in pieces of about a block: a call for each small piece costs more."""
    waiting: list[_Read] = []
    for read in [*reads, None]:
        if waiting and (read is None or sum(w.p.size for w in waiting) + read.p.size > BLOCK):
            yield np.concatenate([w.p for w in waiting]), np.concatenate([w.y for w in waiting])
            waiting = []
        if read is not None:
            waiting.append(read)


def _add_busy(histogram: Histogram, p: Floats, y: Flags) -> None:
    size, outcome = histogram.resolution, y.astype(np.int64)
    upper, rest = _places(p, size)
    bins = upper.astype(np.int64) - 1 + size * outcome
    counts = np.bincount(bins, minlength=2 * size).reshape(2, size)
    histogram.counts += counts
    # Σp = Σ(p - edge) + n edge: a running sum of p itself would lose 1e-11 on equal values.
    rests = np.bincount(bins, rest, 2 * size).reshape(2, size)
    histogram.sums += counts * (np.arange(1, size + 1) / size) + rests
    on_edge = bins[rest == 0.0]
    if on_edge.size:
        histogram.edges += np.bincount(on_edge, minlength=2 * size).reshape(2, size)
    error = np.abs(outcome - p)
    histogram.squares += float(np.square(error).sum())
    truth = 1.0 - error
    histogram.clipped += int(np.count_nonzero(truth < CLIP))
    # Logarithm by torch, which is faster; sum by NumPy, whose order no number of threads changes.
    histogram.nll -= float(torch.from_numpy(np.maximum(truth, CLIP)).log_().numpy().sum())
    _add_tail(histogram, 0, p, outcome, np.flatnonzero(p <= TAIL_START / size))
    _add_tail(histogram, 1, 1.0 - p, outcome, np.flatnonzero(p >= (size - TAIL_START) / size))


def _places(p: Floats, size: int) -> tuple[Floats, Floats]:
    """Return k with (k-1)/R < p <= k/R, at least 1, and p - k/R, by the float64 edges k/R."""
    upper = np.maximum(np.ceil(p * size), 1.0)
    rest = p - upper / size
    # p R is rounded, and may have stepped over an edge: one value in 10^12, or an edge itself.
    odd = np.flatnonzero((rest > 0.0) | (rest < -(1.0 - 1e-9) / size))
    if odd.size:
        edges = np.arange(size + 1) / size
        upper[odd] = np.maximum(np.searchsorted(edges, p[odd]), 1)
        rest[odd] = p[odd] - upper[odd] / size
    return upper, rest


def _add_tail(
    histogram: Histogram, end: int, distance: Floats, outcome: Counts, where: NDArray[np.intp]
) -> None:
    number = histogram.tails.shape[-1]
    bins = np.minimum(tail_bins(distance[where].astype(np.float32)), number - 1)
    counted = np.bincount(bins + number * outcome[where], minlength=2 * number)
    histogram.tails[:, end] += counted.reshape(2, number)
