"""Boxes: (start, stop) along each axis."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Box = tuple[tuple[int, int], ...]


def bounding_box(mask: NDArray[Any]) -> Box | None:
    """Return the smallest box round everything that is not 0; None if nothing is.

    >>> bounding_box(np.array([[0, 0, 0], [0, 1, 1]]))
    ((1, 2), (1, 3))
    """
    box = []
    for axis in range(mask.ndim):
        others = tuple(a for a in range(mask.ndim) if a != axis)
        inside = np.flatnonzero(mask.any(axis=others))
        if inside.size == 0:
            return None
        box.append((int(inside[0]), int(inside[-1]) + 1))
    return tuple(box)


def central_box(shape: Sequence[int], size: Sequence[int]) -> Box:
    """Return the box of ``size`` in the middle; it reaches outside where the shape is smaller.

    >>> central_box((1024, 8), (512, 10))
    ((256, 768), (-1, 9))
    """
    starts = [(n - s) // 2 for n, s in zip(shape, size, strict=True)]
    return tuple((start, start + s) for start, s in zip(starts, size, strict=True))


def scaled_box(box: Box, shape: Sequence[int], new: Sequence[int]) -> Box:
    """Return the smallest box on an axis of ``new`` voxels that covers one of ``shape`` voxels.

    >>> scaled_box(((1, 3),), (4,), (10,))
    ((2, 8),)
    """
    factors = [m / n for n, m in zip(shape, new, strict=True)]
    return tuple(
        (math.floor(start * f), math.ceil(stop * f))
        for (start, stop), f in zip(box, factors, strict=True)
    )


def widened_box(box: Box, margin: int, shape: Sequence[int]) -> Box:
    """Return the box with ``margin`` voxels more on each side, as far as ``shape`` reaches.

    >>> widened_box(((2, 8),), 3, (10,))
    ((0, 10),)
    """
    return tuple(
        (max(start - margin, 0), min(stop + margin, n))
        for (start, stop), n in zip(box, shape, strict=True)
    )
