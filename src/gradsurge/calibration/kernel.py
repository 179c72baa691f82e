"""The loop over voxels that fills a histogram, compiled.

NumPy takes a dozen passes over memory and `np.bincount` alone half of the time. Compiled (numba,
without fast-math, so that sums keep their order on every machine) it is one pass, and threads run
beside each other. Most of an image are blocks of nothing but quiet pairs, counted by loops that
the compiler turns into vector instructions; the other blocks are counted pair by pair.
"""

from collections.abc import Callable
from math import log
from typing import Any, NamedTuple

import numba  # noqa: TID253 -- imported with the first update of a sketch, not before
import numpy as np

from gradsurge.calibration.histogram import CLIP, TAIL_SHIFT, TAIL_START

_ROUND_UP = np.uint32((1 << TAIL_SHIFT) - 1)
_SHIFT = np.uint32(TAIL_SHIFT)
_NO_SIGN = np.uint32(0x7FFFFFFF)  # there is a zero with a sign
_SMALL = 1e-200  # a product goes on down to here
BLOCK = 64  # pairs that are quiet together or not
_RUN = 1 << 14  # pairs that are summed by themselves: rounding grows with the length of a sum


class Tables(NamedTuple):
    """What is counted into.

    Attributes:
        upper: (R,) upper edges of the bins.
        bins: (2, R, 2) number of pairs by outcome and bin, and the sum of their p less the upper
            edge: equal values would otherwise add up with a drift. Without the quiet pairs.
        edges: as in `Histogram`.
        tails: as in `Histogram`.
        sums: (BLOCK,) scratch: sums of p of the quiet pairs of a run, by place in their block.
        squares: (BLOCK,) the same of p^2.
    """

    upper: Any
    bins: Any
    edges: Any
    tails: Any
    sums: Any
    squares: Any


def _compiled(function: Callable[..., Any]) -> Any:
    try:
        return numba.njit(nogil=True, cache=True)(function)
    except RuntimeError:  # nowhere to keep it, as in a read-only container: compile every time
        return numba.njit(nogil=True)(function)


@_compiled
def _are_quiet(bits: Any, y: Any, quiet: Any) -> Any:
    """Tell whether all of a block have outcome no and bits below ``quiet``."""
    highest, some = np.uint32(0), np.uint8(0)
    for j in range(bits.size):
        highest = max(highest, bits[j])
    for j in range(y.size):
        some |= y[j]
    return highest < quiet and not some


@_compiled
def _count_quiet(p: Any, bits: Any, tail: Any, sums: Any, squares: Any) -> None:
    """Count a quiet block, and add p and p^2 to the sums of their places in the block.

    Places need no order among them, which is what allows vectors.
    """
    for j in range(bits.size):
        tail[(bits[j] + _ROUND_UP) >> _SHIFT] += 1
    for j in range(p.size):
        v = np.float64(p[j])
        sums[j] += v
        squares[j] += v * v


@_compiled
def _bin_of(v: Any, upper: Any) -> Any:
    """Return k of the bin (upper[k - 1], upper[k]] that holds v."""
    k = min(np.int64(v * upper.size), upper.size - 1)
    # The product is rounded and may have stepped over an edge: the edges decide.
    if v > upper[k]:
        k += 1
    elif k > 0 and v <= upper[k - 1]:
        k -= 1
    return np.uint64(k)


@_compiled
def _count_mixed(p: Any, bits: Any, y: Any, quiet: Any, tables: Tables, totals: Any) -> None:
    """Count a block pair by pair."""
    upper, bins, edges, tails, sums, squares = tables
    low, high = upper[TAIL_START - 1], upper[upper.size - TAIL_START - 1]
    last, distance = np.uint32(tails.shape[2] - 1), np.empty(1, np.float32)
    distance_bits = distance.view(np.uint32)
    cost, errors, clipped, hushed = 0.0, 0.0, 0, 0
    likelihood = 1.0  # one logarithm of a product in place of many
    for j in range(p.size):
        v, outcome, b = np.float64(p[j]), np.uint64(y[j]), bits[j] & _NO_SIGN
        if b < quiet and not y[j]:
            tails[0, 0, (b + _ROUND_UP) >> _SHIFT] += 1
            sums[j] += v
            squares[j] += v * v
            hushed += 1
            continue
        k = _bin_of(v, upper)
        rest = v - upper[k]
        bins[outcome, k, 0] += 1.0
        bins[outcome, k, 1] += rest
        if rest == 0.0:
            edges[outcome, k] += 1
        if v <= low:
            tails[outcome, 0, min((b + _ROUND_UP) >> _SHIFT, last)] += 1
        elif v >= high:
            distance[0] = 1.0 - v
            tails[outcome, 1, min((distance_bits[0] + _ROUND_UP) >> _SHIFT, last)] += 1
        error, truth = (1.0 - v, v) if y[j] else (v, 1.0 - v)
        errors += error * error
        if truth < CLIP:
            clipped += 1
            truth = np.float64(CLIP)
        likelihood *= truth
        if likelihood < _SMALL:
            cost -= log(likelihood)
            likelihood = 1.0
    totals[0] += cost - log(likelihood)
    totals[1] += errors
    totals[2] += clipped
    totals[3] += hushed


@_compiled
def count_pairs(p: Any, bits: Any, y: Any, quiet: Any, tables: Tables, totals: Any) -> None:
    """Count pairs of probability and outcome; the last two arguments grow in place.

    Args:
        p: probabilities, float32 or float64.
        bits: those of the nearest float32, as uint32.
        y: outcomes, 0 or 1 as uint8.
        quiet: pairs of outcome no with bits below these lie in the first bin, and two terms of its
            series do for the logarithm.
        tables: see there.
        totals: sums of -log P(y) and of (p - y)^2, clipped pairs, sum of p of the quiet pairs and
            their number.
    """
    quiet_tail, sums, squares = tables.tails[0, 0], tables.sums, tables.squares
    for start in range(0, p.size, _RUN):
        stop, run = min(start + _RUN, p.size), np.zeros(4)
        sums[:], squares[:] = 0.0, 0.0
        for first in range(start, stop, BLOCK):
            last = min(first + BLOCK, stop)
            p_block, bits_block, y_block = p[first:last], bits[first:last], y[first:last]
            if _are_quiet(bits_block, y_block, quiet):
                _count_quiet(p_block, bits_block, quiet_tail, sums, squares)
                run[3] += last - first
            else:
                _count_mixed(p_block, bits_block, y_block, quiet, tables, run)
        sum_, sum_of_squares = sums.sum(), squares.sum()
        totals[0] += run[0] + (sum_ + sum_of_squares / 2)
        totals[1] += run[1] + sum_of_squares
        totals[2] += run[2]
        totals[3] += sum_
        totals[4] += run[3]
