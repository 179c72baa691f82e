"""Predictions on the grid of the prepared case, brought back to the source's."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.grid import Grid
from gradsurge.data.preprocessing.grids import turned_shape
from gradsurge.data.preprocessing.orientation import turned_back
from gradsurge.data.preprocessing.resampling import along, weights


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
        target[...] = turned_back(_undo(channel, grid, value), grid.axes, grid.flips)
    return source


def _undo(channel: NDArray[Any], grid: Grid, outside: float) -> NDArray[np.float32]:
    """Return one channel uncropped and resampled back, on the turned source.

    Each voxel is a mean of prepared ones; what of its weight lies outside the crop counts with
    the value of the outside.
    """
    values = channel.astype(np.float32, copy=False)
    covered = np.ones((), np.float32)
    for axis, count in enumerate(turned_shape(grid)):
        new, (start, stop) = grid.resampled_shape[axis], grid.crop[axis]
        first, last = min(max(start, 0), new), max(min(stop, new), 0)
        values = values[(slice(None),) * axis + (slice(first - start, last - start),)]
        if new == count:
            values, share = _placed(values, axis, first, count)
        else:
            matrix = weights(new, count, "linear")[:, first:last]
            values = along(matrix, values, axis)
            share = matrix.sum(axis=1)
        covered = covered[..., None] * share
    return values if outside == 0.0 else values + outside * (1.0 - covered)


def _placed(
    values: NDArray[np.float32], axis: int, start: int, count: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the values at their place along an axis of zeros, and 1 where they lie."""
    stop = start + values.shape[axis]
    placed = np.zeros([*values.shape[:axis], count, *values.shape[axis + 1 :]], np.float32)
    placed[(slice(None),) * axis + (slice(start, stop),)] = values
    share = np.zeros(count, np.float32)
    share[start:stop] = 1.0
    return placed, share
