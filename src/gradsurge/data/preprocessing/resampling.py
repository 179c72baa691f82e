"""Resampling along the axes: one small matrix an axis.

Nothing here is oblique, so resampling is separable: the values along an axis are a matrix times
the old ones. SciPy computes the matrices, BLAS applies them, and rows outside a crop are never
computed. MONAI's `Spacing` would sample the whole volume through a general affine instead.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

How = Literal["linear", "cubic", "area"]
_ORDERS = {"linear": 1, "cubic": 3}


@lru_cache(maxsize=16)
def weights(count: int, new: int, how: How) -> NDArray[np.float32]:
    """Return the (new, count) matrix that resamples an axis of ``count`` values to ``new``.

    The outer faces of the corner voxels stay where they are (half-pixel convention); beyond the
    centre of the first and last voxel values go on as they are. ``linear`` and ``cubic`` (an
    interpolating spline, nnU-Net's choice for images) take no mean when an axis shrinks, ``area``
    is the mean over what a new voxel covers.

    >>> weights(4, 2, "area").tolist()
    [[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]]
    """
    if how == "area":
        matrix = _overlaps(count, new)
    else:
        from scipy import ndimage  # resampling is linear: its matrix is what it makes of 1s

        factors, order = (new / count, 1), _ORDERS[how]
        matrix = ndimage.zoom(np.eye(count), factors, order=order, mode="nearest", grid_mode=True)
    kept: NDArray[np.float32] = matrix.astype(np.float32)
    kept.flags.writeable = False
    return kept


def resampled_rows(
    array: NDArray[Any], shape: Sequence[int], rows: Sequence[tuple[int, int]], how: How
) -> NDArray[np.float32]:
    """Return rows (start, stop) of each axis of S, of (C, *S) resampled to ``shape``."""
    axes = range(len(shape))
    for axis in sorted(axes, key=lambda a: (rows[a][1] - rows[a][0]) / array.shape[a + 1]):
        span = slice(*rows[axis])
        if array.shape[axis + 1] == shape[axis]:
            array = array[(slice(None),) * (axis + 1) + (span,)]
        else:
            matrix = weights(array.shape[axis + 1], shape[axis], how)[span]
            array = along(matrix, array, axis + 1)
    return np.ascontiguousarray(array, dtype=np.float32)


def along(matrix: NDArray[np.float32], array: NDArray[Any], axis: int) -> NDArray[np.float32]:
    """Return the array with ``matrix`` applied along an axis.

    As a batch of products of contiguous matrices: np.tensordot transposes the whole array twice.
    """
    after = math.prod(array.shape[axis + 1 :])
    values = np.ascontiguousarray(array, dtype=np.float32).reshape(-1, array.shape[axis], after)
    product = values[..., 0] @ matrix.T if after == 1 else matrix @ values
    return product.reshape(*array.shape[:axis], len(matrix), *array.shape[axis + 1 :])


def _overlaps(count: int, new: int) -> NDArray[np.float64]:
    """Return the share of each old voxel in each new one."""
    edges = np.arange(new + 1) * (count / new)
    low, high = edges[:-1, None], edges[1:, None]
    old = np.arange(count)
    shared = np.minimum(high, old + 1) - np.maximum(low, old)
    shares: NDArray[np.float64] = np.clip(shared, 0.0, None) * (new / count)
    return shares
