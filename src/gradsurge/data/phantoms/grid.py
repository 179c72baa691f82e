"""Where the voxels of a phantom lie, in millimetres from the middle of the image."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Window = tuple[slice, ...]


@dataclass(frozen=True)
class Grid:
    """A box of voxels.

    Args:
        size: voxels along each axis.
        spacing: millimetres between voxels along each axis.
    """

    size: tuple[int, ...]
    spacing: tuple[float, ...]

    @cached_property
    def axes(self) -> tuple[Array, ...]:
        """Coordinates along each axis, (n,) each; 0 is the middle of the box."""
        return tuple(
            (np.arange(n, dtype=np.float64) - (n - 1) / 2) * step
            for n, step in zip(self.size, self.spacing, strict=True)
        )

    @property
    def extent(self) -> Array:
        """Side lengths of the box in mm."""
        return np.array(self.size, np.float64) * np.array(self.spacing, np.float64)

    @property
    def volume(self) -> float:
        """Content of the box in mm² or mm³."""
        return float(np.prod(self.extent))

    def in_voxels(self, length: float) -> tuple[float, ...]:
        """Return a length in mm as voxels along each axis."""
        return tuple(length / step for step in self.spacing)

    def nearest(self, point: Array) -> Array:
        """Return the voxel centre next to a point."""
        return np.array(
            [axis[np.abs(axis - x).argmin()] for axis, x in zip(self.axes, point, strict=True)]
        )

    def window(self, centre: Array, reach: float) -> Window:
        """Return the slices that hold every voxel within ``reach`` mm of a point along each axis.

        >>> Grid((9, 9), (1.0, 2.0)).window(np.zeros(2), 2.0)
        (slice(2, 7, None), slice(3, 6, None))
        """
        found = []
        for axis, x in zip(self.axes, centre, strict=True):
            first, last = np.searchsorted(axis, (x - reach - 1e-9, x + reach + 1e-9))
            found.append(slice(int(first), int(last)))
        return tuple(found)

    def offsets(self, centre: Array, window: Window) -> list[Array]:
        """Return the coordinates minus the centre's, an array an axis that broadcasts."""
        return [
            (axis[part] - x).reshape([-1 if i == j else 1 for j in range(len(self.size))])
            for i, (axis, part, x) in enumerate(zip(self.axes, window, centre, strict=True))
        ]


def grid_of(size: Sequence[int], default: Grid) -> Grid:
    """Return a grid of that size which holds as much tissue as the default one.

    The spacing changes by one factor, so that a larger size shows the same anatomy more finely.

    >>> grid_of((128, 32), Grid((32, 32), (1.0, 2.0)))
    Grid(size=(128, 32), spacing=(0.5, 1.0))
    """
    ratio = math.prod(default.size) / math.prod(size)
    factor = ratio ** (1 / len(size))
    return Grid(tuple(size), tuple(step * factor for step in default.spacing))
