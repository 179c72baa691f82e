"""Predictions on the grid of the prepared case, brought back to the source's."""

import functools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.grid import Grid
from gradsurge.data.preprocessing.grids import turned_shape
from gradsurge.data.preprocessing.orientation import turned
from gradsurge.data.preprocessing.resampling import along, weights

_VOXELS = 1 << 22  # of the source, at a time


def to_source(
    probabilities: NDArray[Any], grid: Grid, outside: Sequence[float] | None = None
) -> NDArray[np.float32]:
    """Return (C, *T) of the grid as (C, *S) of the source.

    Turning and cropping are undone exactly; resampling back is linear, so that probabilities stay
    between 0 and 1 and go on summing to 1.

    Args:
        probabilities: on the grid of the prepared case.
        grid: of that case.
        outside: each channel's value where the case was cropped away. None: nothing is there,
            which is 1 for the first of several channels (the background) and 0 for the others,
            and 0 for a single channel (the foreground). Channels that may overlap need zeros.

    Raises:
        ValueError: the shape is not that of the grid's crop, or ``outside`` not one a channel.
    """
    expected = tuple(stop - start for start, stop in grid.crop)
    if probabilities.shape[1:] != expected or len(probabilities) < 1:
        raise ValueError(
            f"probabilities: expected shape {('C', *expected)} of the grid's crop, got "
            f"{probabilities.shape}; give a prediction on the prepared case"
        )
    if outside is None:
        outside = [float(len(probabilities) > 1)] + [0.0] * (len(probabilities) - 1)
    if len(outside) != len(probabilities):
        raise ValueError(
            f"outside: expected one value a channel, {len(probabilities)}, got {len(outside)}"
        )
    source = np.empty((len(probabilities), *grid.source_shape), np.float32)
    for channel, value, target in zip(probabilities, outside, source, strict=True):
        in_turn = turned(target, grid.axes, grid.flips)
        for rows in source_slabs(grid):
            in_turn[rows] = slab_to_source(channel, grid, rows, value)
    return source


def source_slabs(grid: Grid) -> Iterator[slice]:
    """Yield the rows of the turned source, some at a time: what is computed of them stays small."""
    count, *others = turned_shape(grid)
    step = max(1, _VOXELS // max(math.prod(others), 1))
    for start in range(0, count, step):
        yield slice(start, min(start + step, count))


def slab_to_source(
    channel: NDArray[Any], grid: Grid, rows: slice, outside: float = 0.0
) -> NDArray[np.float32]:
    """Return rows of one channel (*T), uncropped and resampled back, on the turned source.

    Each voxel is a mean of prepared ones; what of its weight lies outside the crop counts with
    the value of the outside.
    """
    values, shares = channel, []
    for axis, count in enumerate(turned_shape(grid)):
        wanted = rows if axis == 0 else slice(0, count)
        values, share = _undone(values, axis, grid, wanted)
        shares.append(share)
    result = values.astype(np.float32, copy=False)
    if outside == 0.0 or all((share == 1.0).all() for share in shares):
        return result
    covered = functools.reduce(np.multiply.outer, shares)
    added: NDArray[np.float32] = result + np.float32(outside) * (1.0 - covered)
    return added


def _undone(
    values: NDArray[Any], axis: int, grid: Grid, wanted: slice
) -> tuple[NDArray[Any], NDArray[np.float32]]:
    """Return the wanted rows of an axis, and of each the weight that lies in the crop."""
    new, count = grid.resampled_shape[axis], turned_shape(grid)[axis]
    start, stop = grid.crop[axis]
    first, last = min(max(start, 0), new), max(min(stop, new), 0)
    if new == count:
        return _placed(values, axis, (first, max(last, first)), start, wanted)
    matrix = weights(new, count, "linear")[wanted, first:last]
    share = np.ones(len(matrix), np.float32)
    if (first, last) != (0, new):
        share = matrix.sum(axis=1)
    # A row is a mean of two: the others need not be looked at.
    used = np.flatnonzero(matrix.any(axis=0))
    low, high = (int(used[0]), int(used[-1]) + 1) if used.size else (0, 0)
    part = _cut(values, axis, first - start + low, first - start + high)
    if part.size:
        return along(matrix[:, low:high], part, axis), share
    shape = (*values.shape[:axis], len(matrix), *values.shape[axis + 1 :])
    return np.zeros(shape, np.float32), share


def _placed(
    values: NDArray[Any], axis: int, inside: tuple[int, int], start: int, wanted: slice
) -> tuple[NDArray[Any], NDArray[np.float32]]:
    """Return the wanted rows of values that lie at ``start`` among zeros, and 1 where they lie."""
    low, high = max(inside[0], wanted.start), min(inside[1], wanted.stop)
    high = max(high, low)
    part = _cut(values, axis, low - start, high - start)
    count = wanted.stop - wanted.start
    share = np.zeros(count, np.float32)
    share[low - wanted.start : high - wanted.start] = 1.0
    if high - low == count:
        return part, share
    placed = np.zeros((*values.shape[:axis], count, *values.shape[axis + 1 :]), np.float32)
    _cut(placed, axis, low - wanted.start, high - wanted.start)[...] = part
    return placed, share


def _cut(values: NDArray[Any], axis: int, start: int, stop: int) -> NDArray[Any]:
    return values[(slice(None),) * axis + (slice(start, stop),)]
