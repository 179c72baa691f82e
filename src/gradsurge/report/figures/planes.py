"""Planes of cases in print: greys, maps, outlines, and marks that stay round on any pixels."""

from collections.abc import Iterable
from typing import Any

import matplotlib.patheffects as effects
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Ellipse
from numpy.typing import NDArray
from scipy.ndimage import binary_erosion

from gradsurge.experiments.figure_data.confident_errors import Mark
from gradsurge.experiments.figure_data.windows import Window
from gradsurge.report.figures.arrow_field import ArrowField
from gradsurge.report.figures.outlines import draw_outlines

OUTLINE = "#00E5FF"  # a colour of neither the images nor the maps
PROBABILITIES = "inferno"
_FINE = 0.1  # share of pixels at the border of a structure


def draw_image(axis: Axes, image: NDArray[np.floating], window: Window, aspect: float) -> None:
    """Draw a scan (H, W) in greys, or colours (3, H, W), the middle 99 % of the whole plane's."""
    low, high = np.percentile(image, (0.5, 99.5), axis=(-2, -1), keepdims=True)
    plane = np.asarray(window.cut(image), np.float64)
    shown = np.clip((plane - low) / np.where(high > low, high - low, 1.0), 0.0, 1.0)
    _show(axis, np.moveaxis(shown, 0, -1) if shown.ndim == 3 else shown, window, aspect, "gray")


def draw_map(
    axis: Axes,
    values: NDArray[np.floating] | NDArray[np.bool_],
    window: Window,
    aspect: float,
    colours: str = PROBABILITIES,
) -> None:
    """Draw values (H, W) of 0 to 1 in colours."""
    _show(axis, np.asarray(window.cut(values), np.float64), window, aspect, colours)


def draw_label(axis: Axes, label: NDArray[np.bool_], width: float) -> None:
    """Draw the border of a structure of the whole plane (H, W)."""
    view = axis.get_xlim(), axis.get_ylim()
    draw_outlines(axis, label.astype(np.uint8), lambda _: OUTLINE, width)
    axis.set(xlim=view[0], ylim=view[1])


def is_fine(label: NDArray[np.bool_]) -> bool:
    """Tell whether a structure is so fine that its outline would hide a map below it.

    >>> square = np.zeros((40, 40), np.bool_)
    >>> square[5:35, 5:35] = True
    >>> is_fine(square), is_fine(np.arange(40) % 6 < np.full((40, 1), 3))
    (False, True)
    """
    inner = binary_erosion(label, border_value=1)
    return float((label & ~inner).mean()) > _FINE


def draw_circles(axis: Axes, marks: Iterable[Mark], radius: float, aspect: float) -> None:
    """Draw a circle about each mark; ``radius`` is in columns."""
    for mark in marks:
        circle = Ellipse((mark.column, mark.row), 2 * radius, 2 * radius / aspect)
        circle.set(fill=False, ec="white", lw=1.3, path_effects=_dark_rim(2.6))
        axis.add_patch(circle)


def draw_arrows(axis: Axes, marks: Iterable[Mark], arrows: ArrowField) -> None:
    """Draw an arrow to each mark."""
    for mark in marks:
        axis.annotate(
            "",
            (mark.column, mark.row),
            arrows.start(mark),
            textcoords="offset points",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-|>,head_length=0.42,head_width=0.22",
                "color": "white",
                "lw": 1.3,
                "shrinkA": 0,
                "shrinkB": 1.5,
                "path_effects": _dark_rim(2.8),
            },
        )


def _show(
    axis: Axes, plane: NDArray[np.float64], window: Window, aspect: float, colours: str
) -> None:
    axis.imshow(
        plane,
        cmap=colours,
        vmin=0.0,
        vmax=1.0,
        aspect=aspect,
        extent=(window.left - 0.5, window.right - 0.5, window.bottom - 0.5, window.top - 0.5),
        interpolation="nearest",
    )
    axis.set(xticks=[], yticks=[])
    axis.grid(visible=False)
    axis.spines[:].set_visible(False)


def _dark_rim(width: float) -> list[Any]:
    """White is lost on bright pixels without it."""
    return [effects.withStroke(linewidth=width, foreground="#303030")]
