"""Boxes that may reach outside of an array."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Box = Sequence[tuple[int, int]]


def check_box(box: Box, shape: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return the box as a tuple of (start, stop).

    Raises:
        ValueError: not one pair an axis, or an empty one.
    """
    pairs = tuple((int(start), int(stop)) for start, stop in box)
    if len(pairs) != len(shape):
        raise ValueError(
            f"box: expected (start, stop) for each of {len(shape)} axes, got {len(pairs)}"
        )
    if any(stop <= start for start, stop in pairs):
        raise ValueError(f"box: expected start < stop along every axis, got {pairs}")
    return pairs


def read_padded(
    read: Callable[[list[slice]], NDArray[Any]],
    box: tuple[tuple[int, int], ...],
    shape: Sequence[int],
    fill: float,
) -> NDArray[Any]:
    """Read the part of a box that lies inside, and fill the rest.

    Args:
        read: returns the array (..., *S) at spatial slices that lie inside.
        box: (start, stop) along each axis of S.
        shape: S.
        fill: the value outside.

    >>> line = np.array([1, 2, 3])
    >>> read_padded(lambda slices: line[slices[0]], ((-1, 2),), (3,), 9)
    array([9, 1, 2])
    """
    # A box that misses the array altogether is read at one voxel, for the channels and the dtype.
    starts = [min(max(a, 0), n - 1) for (a, _), n in zip(box, shape, strict=True)]
    stops = [max(min(b, n), a + 1) for (_, b), n, a in zip(box, shape, starts, strict=True)]
    inside = read([slice(a, b) for a, b in zip(starts, stops, strict=True)])
    if all(pair == (a, b) for pair, a, b in zip(box, starts, stops, strict=True)):
        return inside
    leading = inside.shape[: inside.ndim - len(box)]
    padded = np.full((*leading, *(b - a for a, b in box)), fill, inside.dtype)
    if all(a < n and b > 0 for (a, b), n in zip(box, shape, strict=True)):
        place = (slice(s - a, t - a) for (a, _), s, t in zip(box, starts, stops, strict=True))
        padded[*(slice(None) for _ in leading), *place] = inside
    return padded
