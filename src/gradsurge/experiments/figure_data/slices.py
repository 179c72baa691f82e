"""Slices of volumes as they are shown: across the thickest voxels, upright."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Slice:
    """Where a case is cut.

    Attributes:
        axis: that is cut across; None for pictures, which are shown whole.
        at: the place along it, from 0.
        of: the number of places.
        aspect: height of a pixel over its width.
    """

    axis: int | None
    at: int
    of: int
    aspect: float

    @property
    def title(self) -> str:
        """In words, counted from 1; empty for pictures."""
        return "" if self.axis is None else f"slice {self.at + 1} of {self.of}"

    def plane(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return (..., H, W) of an array (..., *S)."""
        if self.axis is None:
            return array
        # RAS+ arrays count to the right, the front and the top: upright once turned.
        cut = array.take(self.at, axis=self.axis - 3)
        return np.ascontiguousarray(np.rot90(cut, axes=(-2, -1)))


def fullest_slice(interest: NDArray[Any], spacing: Sequence[float]) -> Slice:
    """Return the slice with the largest sum; the middle one if all are 0.

    Args:
        interest: (*S), not negative.
        spacing: voxel sizes along S.

    >>> volume = np.zeros((4, 4, 3))
    >>> volume[1, 1, 2] = 1
    >>> fullest_slice(volume, (1.0, 1.0, 3.0)).title
    'slice 3 of 3'
    """
    axis = axis_across(spacing)
    if axis is None:
        return _slice(interest.shape, spacing, 0)
    sums = interest.sum(axis=tuple(a for a in range(3) if a != axis), dtype=np.float64)
    at = int(sums.argmax()) if sums.any() else len(sums) // 2
    return _slice(interest.shape, spacing, at)


def numbered_slice(number: int, shape: Sequence[int], spacing: Sequence[float]) -> Slice:
    """Return the slice of a number, counted from 1.

    Raises:
        ValueError: there is no such slice.
    """
    axis = axis_across(spacing)
    if axis is None:
        raise ValueError("slice: these cases are pictures and have no slices; leave it out")
    if not 1 <= number <= shape[axis]:
        raise ValueError(f"slice: expected a number from 1 to {shape[axis]}, got {number}")
    return _slice(shape, spacing, number - 1)


def axis_across(spacing: Sequence[float]) -> int | None:
    """Return the axis of the thickest voxels, the last of equals; None for pictures.

    >>> axis_across((1.0, 1.0, 1.0)), axis_across((5.0, 1.0, 1.0)), axis_across((1.0, 1.0))
    (2, 0, None)
    """
    if len(spacing) < 3:
        return None
    return max((2, 1, 0), key=lambda axis: round(spacing[axis], 3))


def _slice(shape: Sequence[int], spacing: Sequence[float], at: int) -> Slice:
    axis = axis_across(spacing)
    if axis is None:
        return Slice(None, 0, 1, float(spacing[0] / spacing[1]))
    across, down = (a for a in range(3) if a != axis)
    return Slice(axis, at, int(shape[axis]), float(spacing[down] / spacing[across]))
