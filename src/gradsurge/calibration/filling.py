"""The one pass over the voxels that fills a histogram.

Most voxels of a medical image are background with a probability below 1/R. Of these "quiet" ones
the histogram needs a count, two sums and the leading bits; only the others, the "busy" ones, are
sorted into the uniform bins. Blocks are read by several threads and summed in their order, so that
the result does not depend on the number of threads.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
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
QUIET = 4e-5  # below this, two terms of -log(1-p) leave 2e-14
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
    starts = range(0, p.size, BLOCK)
    threads = max(1, min(torch.get_num_threads(), len(starts)))
    free = SimpleQueue[_Scratch]()
    for _ in range(threads):
        free.put(_Scratch())

    def read(start: int) -> _Read:
        scratch, piece = free.get(), slice(start, start + BLOCK)
        try:
            return _read(p[piece], y[piece], histogram.resolution, scratch)
        finally:
            free.put(scratch)

    # A pool a call, not a lasting one: its threads would not survive a fork of the process.
    with ThreadPoolExecutor(threads) as pool:
        each = map if threads == 1 else pool.map
        for first in range(0, len(starts), _GROUP):
            reads = list(each(read, starts[first : first + _GROUP]))
            for block in reads:
                _add_quiet(histogram, block)
            for busy_p, busy_y in _gathered(reads):
                _add_busy(histogram, busy_p, busy_y)
    if nll is not None:
        histogram.nll, histogram.clipped = before + nll, clipped


class _Scratch:
    """Arrays that a thread uses again and again: fresh ones cost a page fault every 4 KiB."""

    def __init__(self) -> None:
        self.busy = np.empty(BLOCK, np.bool_)
        self.quiet = np.empty(BLOCK, np.float32)
        self.exact = np.empty(BLOCK, np.float64)
        self.bins = np.empty(BLOCK, np.int32)


def _read(p: NDArray[np.floating], y: Flags, resolution: int, scratch: _Scratch) -> _Read:
    n = p.size
    busy, quiet, exact = scratch.busy[:n], scratch.quiet[:n], scratch.exact[:n]
    np.greater_equal(p, p.dtype.type(min(1.0 / resolution, QUIET)), out=busy)
    where = np.flatnonzero(np.logical_or(busy, y, out=busy))
    first, second = (quiet, exact) if p.dtype == np.float32 else (exact, quiet)
    first[:] = p
    first[where] = 0.0
    second[:] = first
    tail = np.bincount(tail_bins(quiet, out=scratch.bins[:n]))
    tail[0] -= where.size  # the busy ones, which stood in as zeros
    total = float(exact.sum())
    squares = float(np.einsum("i,i->", exact, exact))  # not by BLAS, whose threads would wait
    return _Read(n - where.size, total, squares, tail, p[where].astype(np.float64), y[where])


def _add_quiet(histogram: Histogram, read: _Read) -> None:
    histogram.counts[0, 0] += read.quiet
    histogram.sums[0, 0] += read.total
    histogram.squares += read.squares
    histogram.nll += read.total + read.squares / 2  # -log(1-p) = p + p²/2 + ...
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
    truth = np.where(y, p, 1.0 - p)
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
