"""The loop over voxels that fills a histogram, compiled.

NumPy takes a dozen passes over memory and `np.bincount` alone half of the time. Compiled (numba,
without fast-math, so that sums keep their order on every machine) it is one pass, and threads run
beside each other.
"""

from collections.abc import Callable
from math import ceil, log
from typing import Any

import numba  # noqa: TID253 -- imported with the first update of a sketch, not before
import numpy as np

from gradsurge.calibration.histogram import CLIP, TAIL_SHIFT, TAIL_START

_ROUND_UP = np.int32((1 << TAIL_SHIFT) - 1)
_SHIFT = np.uint32(TAIL_SHIFT)
_NEAR = 1e-6  # bins; the rounding of a product is far less
_SMALL = 1e-200  # a product goes on down to here
_RUN = 4096  # pairs that are summed by themselves: rounding grows with the length of a sum


def _compiled(function: Callable[..., Any]) -> Any:
    try:
        return numba.njit(nogil=True, cache=True)(function)
    except RuntimeError:  # nowhere to keep it, as in a read-only container: compile every time
        return numba.njit(nogil=True)(function)


@_compiled
def _count_busy(
    v: Any, bits: Any, y: Any, counts: Any, rests: Any, edges: Any, tails: Any, totals: Any
) -> Any:
    """Count a pair that is not quiet, and return the probability of its outcome."""
    size = counts.shape[1]
    place = v * size
    k: Any = max(np.int64(ceil(place)), 1)
    # The product is rounded and may have stepped over an edge: the float64 edges decide.
    if k - place < _NEAR and v > k / size:
        k += 1
    elif k > 1 and k - place > 1.0 - _NEAR and v <= (k - 1) / size:
        k -= 1
    outcome, rest = np.int64(y), v - k / size
    counts[outcome, k - 1] += 1
    rests[outcome, k - 1] += rest
    if rest == 0.0:
        edges[outcome, k - 1] += 1
    if place <= TAIL_START + 1 and v <= TAIL_START / size:
        last = tails.shape[2] - 1
        tails[outcome, 0, min((bits + _ROUND_UP) >> TAIL_SHIFT, last)] += 1
    error, truth = (1.0 - v, v) if y else (v, 1.0 - v)
    totals[1] += error * error
    if truth < CLIP:
        totals[2] += 1
        truth = CLIP
    return truth


@_compiled
def _count_upper_tail(p: Any, y: Any, where: Any, number: Any, size: Any, tails: Any) -> None:
    last, distance = tails.shape[2] - 1, np.empty(1, np.float32)
    bits = distance.view(np.int32)
    for j in range(number):
        v = np.float64(p[where[j]])
        if v >= (size - TAIL_START) / size:
            distance[0] = 1.0 - v
            place = min((bits[0] + _ROUND_UP) >> TAIL_SHIFT, last)
            tails[np.int64(y[where[j]]), 1, place] += 1


@_compiled
def count_pairs(
    p: Any,
    bits: Any,
    y: Any,
    quiet: Any,
    counts: Any,
    rests: Any,
    edges: Any,
    tails: Any,
    totals: Any,
) -> None:
    """Count pairs of probability and outcome; the last five arguments grow in place.

    Args:
        p: probabilities, float32 or float64.
        bits: those of the nearest float32, as int32.
        y: outcomes, bool.
        quiet: pairs of outcome no below this have no place among the uniform bins but the first,
            and need no logarithm: two terms of its series do. Of the dtype of ``p``.
        counts: as in `Histogram`, without the quiet pairs.
        rests: (2, R) sums of p less the upper edge of its bin: equal values would otherwise add
            up with a drift.
        edges: as in `Histogram`.
        tails: as in `Histogram`.
        totals: sums of -log P(y) and of (p - y)^2, clipped pairs, sum of p of the quiet pairs and
            their number.
    """
    quiet_tail, busy = tails[0, 0], np.empty(_RUN, np.int64)
    for start in range(0, p.size, _RUN):
        # Two sums in turns: an addition need not wait for the one before it.
        even = odd = even_squares = odd_squares = 0.0
        stop, waiting = min(start + _RUN, p.size), 0
        for i in range(start, stop):
            if p[i] < quiet and not y[i]:
                quiet_tail[np.uint32(bits[i] + _ROUND_UP) >> _SHIFT] += 1
                v = np.float64(p[i])
                if i & 1:
                    odd += v
                    odd_squares += v * v
                else:
                    even += v
                    even_squares += v * v
            else:
                busy[waiting] = i
                waiting += 1
        squares = even_squares + odd_squares
        totals[0] += even + odd + squares / 2
        totals[1] += squares
        totals[3] += even + odd
        totals[4] += stop - start - waiting
        likelihood = 1.0  # one logarithm of a product in place of many
        for j in range(waiting):
            i, v = busy[j], np.float64(p[busy[j]])
            likelihood *= _count_busy(v, bits[i], y[i], counts, rests, edges, tails, totals)
            if likelihood < _SMALL:
                totals[0] -= log(likelihood)
                likelihood = 1.0
        totals[0] -= log(likelihood)
        if waiting:
            _count_upper_tail(p, y, busy, waiting, counts.shape[1], tails)
