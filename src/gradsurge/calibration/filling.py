"""The one pass over the voxels that fills a histogram.

Most voxels of a medical image are background with a probability below 1/R. Of these "quiet" ones
the histogram needs a count, two sums and the leading bits; only the others, the "busy" ones, are
sorted into the uniform bins. Blocks are read by several threads and summed in their order, so that
the result does not depend on the number of threads.
"""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
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
_BUSY = 1 << 17  # busy voxels that are sorted at a time


class _Read(NamedTuple):
    """A block: its quiet voxels summed, its busy ones picked out, by outcome."""

    quiet: int
    total: float
    squares: float
    tail: Counts
    busy: tuple[Floats, Floats]


def fill(histogram: Histogram, p: NDArray[np.floating], y: Flags, nll: float | None = None) -> None:
    """Count flat arrays of probabilities in [0, 1] (float32 or float64) and outcomes.

    Args:
        histogram: grows in place.
        p: probabilities of the outcome yes.
        y: outcomes.
        nll: the sum of -log P(y), where it is known better than p can tell: from logits.
    """
    before, clipped = histogram.nll, histogram.clipped
    waiting: list[_Read] = []
    for block in _blocks(p, y, histogram.resolution):
        _add_quiet(histogram, block)
        waiting.append(block)
        # A call for each small piece would cost more, and many waiting ones memory.
        if sum(no.size + yes.size for *_, (no, yes) in waiting) >= _BUSY:
            _add_busy(histogram, waiting)
            waiting = []
    _add_busy(histogram, waiting)
    if nll is not None:
        histogram.nll, histogram.clipped = before + nll, clipped


def _blocks(p: NDArray[np.floating], y: Flags, resolution: int) -> Iterator[_Read]:
    """Yield the blocks in their order, read by several threads a few ahead."""
    starts = range(0, p.size, BLOCK)
    threads = max(1, min(torch.get_num_threads(), len(starts)))
    free = SimpleQueue[_Scratch]()
    for _ in range(threads):
        free.put(_Scratch())

    def read(start: int) -> _Read:
        scratch, piece = free.get(), slice(start, start + BLOCK)
        try:
            return _read(p[piece], y[piece], resolution, scratch)
        finally:
            free.put(scratch)

    if threads == 1:
        yield from map(read, starts)
        return
    # A pool a call, not a lasting one: its threads would not survive a fork of the process.
    with ThreadPoolExecutor(threads) as pool:
        ahead: deque[Future[_Read]] = deque()
        for start in starts:
            ahead.append(pool.submit(read, start))
            if len(ahead) > 2 * threads:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()


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
    values, outcomes = p[where].astype(np.float64), y[where]
    busy_ones = values[~outcomes], values[outcomes]
    return _Read(n - where.size, total, squares, tail, busy_ones)


def _add_quiet(histogram: Histogram, read: _Read) -> None:
    histogram.counts[0, 0] += read.quiet
    histogram.sums[0, 0] += read.total
    histogram.squares += read.squares
    histogram.nll += read.total + read.squares / 2  # -log(1-p) = p + p²/2 + ...
    histogram.tails[0, 0, : read.tail.size] += read.tail


def _add_busy(histogram: Histogram, reads: list[_Read]) -> None:
    for outcome in (0, 1):
        pieces = [read.busy[outcome] for read in reads]
        if any(piece.size for piece in pieces):
            p = np.concatenate(pieces)
            _add_bins(histogram, outcome, p)
            _add_costs(histogram, outcome, p)


def _add_bins(histogram: Histogram, outcome: int, p: Floats) -> None:
    size = histogram.resolution
    upper, rest = _places(p, size)
    bins = upper.astype(np.int64)
    bins -= 1
    counts = np.bincount(bins, minlength=size)
    histogram.counts[outcome] += counts
    # Σp = Σ(p - edge) + n edge: a running sum of p itself would lose 1e-11 on equal values.
    histogram.sums[outcome] += counts * (np.arange(1, size + 1) / size)
    histogram.sums[outcome] += np.bincount(bins, rest, size)
    on_edge = bins[rest == 0.0]
    if on_edge.size:
        histogram.edges[outcome] += np.bincount(on_edge, minlength=size)
    low, high = p <= TAIL_START / size, p >= (size - TAIL_START) / size
    _add_tail(histogram.tails[outcome, 0], p[low])
    _add_tail(histogram.tails[outcome, 1], 1.0 - p[high])


def _add_tail(tail: Counts, distance: Floats) -> None:
    bins = np.minimum(tail_bins(distance.astype(np.float32)), tail.size - 1)
    tail += np.bincount(bins, minlength=tail.size)


def _add_costs(histogram: Histogram, outcome: int, p: Floats) -> None:
    other = 1.0 - p
    truth, error = (p, other) if outcome else (other, p)
    histogram.squares += float(np.einsum("i,i->", error, error))
    histogram.clipped += int(np.count_nonzero(truth < CLIP))
    # Logarithm by torch, which is faster; sum by NumPy, whose order no number of threads changes.
    histogram.nll -= float(torch.from_numpy(np.maximum(truth, CLIP)).log_().numpy().sum())


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
