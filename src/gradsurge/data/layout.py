"""Memory order of channels: NIfTI runs the first axis fastest, NumPy the last; both stay as is."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Voxels of a block: a few channels of it fit the second-level cache.
_BLOCK = 1 << 15


def empty_channels(count: int, channel: NDArray[Any]) -> NDArray[Any]:
    """Return an unfilled (count, *S), each channel in the memory order of ``channel`` (*S)."""
    if channel.flags.f_contiguous:
        return np.moveaxis(np.empty((*channel.shape, count), channel.dtype, order="F"), -1, 0)
    return np.empty((count, *channel.shape), channel.dtype)


def blocks(array: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Yield views of (C, *S) that fit the cache, cut along the slowest axis in memory.

    >>> [block.shape for block in blocks(np.zeros((2, 300, 200)))]
    [(2, 163, 200), (2, 137, 200)]
    """
    axes = sorted(range(1, array.ndim), key=lambda axis: -abs(array.strides[axis]))
    ordered = array.transpose(0, *axes)
    slices = max(1, _BLOCK * ordered.shape[1] // max(1, ordered[0].size))
    for start in range(0, ordered.shape[1], slices):
        yield ordered[:, start : start + slices]
