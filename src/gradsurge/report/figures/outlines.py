"""Outlines of a label's classes over a slice."""

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray


def draw_outlines(
    axes: Axes, label: NDArray[Any], colour_of: Callable[[int], str], width: float
) -> None:
    """Draw the border of every class but 0 of a 2D label."""
    height, breadth = label.shape
    for number in np.unique(label).tolist():
        if number:
            axes.contour(
                np.arange(breadth + 2) - 1,
                np.arange(height + 2) - 1,
                np.pad(label == number, 1).astype(np.float64),  # closes at the border
                levels=[0.5],
                colors=[colour_of(number)],
                linewidths=width,
            )
