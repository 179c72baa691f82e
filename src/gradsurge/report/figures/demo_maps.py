"""Held-out cases with the probabilities of all models side by side, a row a case."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.figure import Figure
from numpy.typing import NDArray

from gradsurge.experiments.demo.compared import POSTERIOR
from gradsurge.experiments.demo.side_by_side import SideBySide
from gradsurge.report.figures.outlines import draw_outlines
from gradsurge.report.style import styled

Array = NDArray[np.float64]

_OUTLINE = "#00E5FF"  # a colour of neither the images nor the map
_COLOURS = "inferno"
_SIDE = 1.55  # inches of a panel's width
_LETTERS = 34  # that fit beside a panel; of longer names the end tells more


class Row(NamedTuple):
    """A case: its image in [0, 1], black without one, its label, and maps by name.

    ``title`` says which case it is, and whose probabilities the maps are.
    """

    image: Array
    label: NDArray[np.uint8]
    maps: dict[str, Array]
    aspect: float
    title: str


def compute(looks: Sequence[SideBySide]) -> list[Row]:
    """Order the maps: the true posterior first, then the models as they were compared.

    Raises:
        ValueError: there is no case to show.
    """
    if not looks:
        raise ValueError("looks: expected at least one case, got none")
    return [
        Row(
            np.zeros(look.label.shape) if look.image is None else _grey(look.image),
            look.label.astype(np.uint8),
            {
                name: look.maps[name].astype(np.float64)
                for name in sorted(look.maps, key=lambda name: name != POSTERIOR)
            },
            look.aspect,
            f"{look.case}: {look.structure}",
        )
        for look in looks
    ]


@styled
def draw(rows: Sequence[Row]) -> Figure:
    """Draw image and label, then every map with the label's outline."""
    names = list(rows[0].maps)
    heights = [row.label.shape[0] * row.aspect / row.label.shape[1] for row in rows]
    figure = Figure(
        figsize=(_SIDE * (1 + len(names)) + 0.7, _SIDE * sum(heights) + 0.4),
        layout="constrained",
    )
    grid = figure.subplots(len(rows), 1 + len(names), squeeze=False, height_ratios=heights)
    for row, axes in zip(rows, grid, strict=True):
        _show(axes[0], row.image, row.aspect, "gray")
        _name(axes[0], row.title)
        draw_outlines(axes[0], row.label, lambda _: _OUTLINE, 0.9)
        for axis, name in zip(axes[1:], names, strict=True):
            _show(axis, row.maps[name], row.aspect, _COLOURS)
            draw_outlines(axis, row.label, lambda _: _OUTLINE, 0.5)
    for axis, title in zip(grid[0], ("image and label", *map(_in_lines, names)), strict=True):
        axis.set_title(title, fontsize=8.5)
    bar = ScalarMappable(cmap=_COLOURS)  # from 0 to 1 by default
    figure.colorbar(bar, ax=grid, shrink=0.75, pad=0.01, aspect=30, label="probability")
    return figure


def _show(axis: Axes, plane: Array, aspect: float, colours: str) -> None:
    axis.set_axis_off()
    axis.imshow(plane, cmap=colours, vmin=0, vmax=1, aspect=aspect, interpolation="nearest")


def _name(axis: Axes, title: str) -> None:
    """Write along the left side; an axis that is off has no label."""
    axis.set_axis_on()
    axis.set(xticks=[], yticks=[])
    axis.spines[:].set_visible(False)
    text = title if len(title) <= _LETTERS else f"...{title[3 - _LETTERS :]}"
    axis.set_ylabel(text, fontsize=6.5, parse_math=False)


def _in_lines(name: str) -> str:
    """Break the longest name."""
    return name.replace(" corrected", "\ncorrected")


def _grey(image: NDArray[np.float32]) -> Array:
    """Spread the middle 99 % of the intensities over the greys."""
    low, high = np.percentile(image, (0.5, 99.5))
    spread: Array = (image.astype(np.float64) - low) / (high - low if high > low else 1.0)
    return spread.clip(0.0, 1.0)
