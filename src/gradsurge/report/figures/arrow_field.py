"""Where the arrows of a panel come from."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gradsurge.experiments.figure_data.confident_errors import Mark
from gradsurge.experiments.figure_data.windows import Window

LENGTH = 19.0
"""Points of an arrow."""


@dataclass(frozen=True)
class ArrowField:
    """Arrows come from outside of the structure, so that what they show stays in sight.

    Attributes:
        label: where the structure is, (H, W).
        window: what of it is shown.
        aspect: height of a pixel over its width.
        width: of the panel, points.
    """

    label: NDArray[np.bool_]
    window: Window
    aspect: float
    width: float

    def start(self, mark: Mark) -> tuple[float, float]:
        """Return where the arrow to a mark begins: points to the right and up of it.

        It is turned where it would begin outside of the panel.
        """
        down, across = self._from_middle(mark)
        angle = np.arctan2(-down, across) if (down or across) else np.pi / 4
        for turn in (0.0, 0.5, -0.5, 1.0):
            start = LENGTH * np.cos(angle + turn * np.pi), LENGTH * np.sin(angle + turn * np.pi)
            if self._is_inside(mark, start):
                break
        return float(start[0]), float(start[1])

    def _from_middle(self, mark: Mark) -> tuple[float, float]:
        """Return the way from the structure's middle to a mark, in columns."""
        inside = np.nonzero(self.window.cut(self.label))
        middle = (
            [i.mean() for i in inside] if inside[0].size else [n / 2 for n in self.window.shape]
        )
        down = (mark.row - self.window.top - middle[0]) * self.aspect
        return float(down), float(mark.column - self.window.left - middle[1])

    def _is_inside(self, mark: Mark, start: tuple[float, float]) -> bool:
        points = self.width / self.window.shape[1]  # a column
        column = mark.column + start[0] / points
        row = mark.row - start[1] / points / self.aspect
        return (
            self.window.left <= column <= self.window.right
            and self.window.top <= row <= self.window.bottom
        )
