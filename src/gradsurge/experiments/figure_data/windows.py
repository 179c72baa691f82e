"""The part of a plane that is worth a closer look."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter

_SHARE = 0.25  # of the plane's shorter side
_LEAST = 32  # pixels across


@dataclass(frozen=True)
class Window:
    """Rows and columns of a plane, ends not included."""

    top: int
    bottom: int
    left: int
    right: int

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return self.bottom - self.top, self.right - self.left

    def cut(self, plane: NDArray[Any]) -> NDArray[Any]:
        """Return the window of (..., H, W)."""
        return plane[..., self.top : self.bottom, self.left : self.right]


def whole(plane: NDArray[Any]) -> Window:
    """Return the window that is all of a plane (..., H, W)."""
    return Window(0, plane.shape[-2], 0, plane.shape[-1])


def fullest_window(interest: NDArray[Any], aspect: float) -> Window:
    """Return the window with the largest sum, as high as wide on paper.

    Args:
        interest: (H, W), not negative. Where it is 0 all over, the window is in the middle.
        aspect: height of a pixel over its width.

    >>> plane = np.zeros((400, 200))
    >>> plane[10, 190] = 1
    >>> fullest_window(plane, 1.0)
    Window(top=0, bottom=50, left=150, right=200)
    """
    height, width = interest.shape
    side = max(float(_LEAST), _SHARE * min(height * aspect, width))
    rows = min(height, round(side / aspect))
    columns = min(width, round(side))
    sums = uniform_filter(interest.astype(np.float64), (rows, columns), mode="constant")
    if not sums.max(initial=0.0) > 0:
        return _about(height / 2, width / 2, (rows, columns), interest.shape)
    row, column = np.unravel_index(int(sums.argmax()), sums.shape)
    # The filter looks half a window up and left of its place, rounded down.
    row, column = row + rows % 2 / 2, column + columns % 2 / 2
    found = _about(float(row), float(column), (rows, columns), interest.shape)
    # Many places are as full: in the middle of what is inside it is seen best, and stays inside.
    down, across = np.nonzero(found.cut(interest))
    middle = found.top + (down.min() + down.max() + 1) / 2
    centre = found.left + (across.min() + across.max() + 1) / 2
    return _about(float(middle), float(centre), (rows, columns), interest.shape)


def _about(row: float, column: float, size: tuple[int, int], plane: tuple[int, ...]) -> Window:
    """Return the window of a size about a place, moved until it is inside of the plane."""
    top = int(np.clip(round(row - size[0] / 2), 0, plane[0] - size[0]))
    left = int(np.clip(round(column - size[1] / 2), 0, plane[1] - size[1]))
    return Window(top, top + size[0], left, left + size[1])


def marks_reach(window: Window, aspect: float) -> tuple[int, int]:
    """Return rows and columns to each side that a mark stands for: a fifteenth of the window.

    >>> marks_reach(Window(0, 60, 0, 60), 1.0), marks_reach(Window(0, 30, 0, 60), 2.0)
    ((4, 4), (2, 4))
    """
    rows, columns = window.shape
    side = max(2.0, min(rows * aspect, columns) / 15)
    return max(1, round(side / aspect)), max(1, round(side))
