"""NLL and ECE over the epochs of an nnU-Net training: a panel to stand below its own curves."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from PIL import Image

from gradsurge.report.figures.log_axes import log_if_wide
from gradsurge.report.style import BACKGROUND, FOREGROUND, styled

WIDTH = 7.5  # inches: with a dot density of pixels / WIDTH, letters are as large as nnU-Net's


@styled
def pixels(nll: Sequence[float], ece: Sequence[float], width: int) -> Image.Image:
    """Return the panel as a picture so many pixels wide."""
    canvas = FigureCanvasAgg(draw(nll, ece))
    canvas.figure.set_dpi(width / WIDTH)
    canvas.draw()  # type: ignore[no-untyped-call]
    drawn = np.asarray(canvas.buffer_rgba())  # type: ignore[no-untyped-call]
    return Image.fromarray(np.ascontiguousarray(drawn[:, :width, :3]))


@styled
def draw(nll: Sequence[float], ece: Sequence[float]) -> Figure:
    """Draw both over the epochs, each with an axis of its own; epochs without a number stay empty.

    Args:
        nll: one number an epoch, from 0 on.
        ece: the same.
    """
    figure = Figure(figsize=(WIDTH, 0.4 * WIDTH), layout="constrained")
    left = figure.subplots()
    right = left.twinx()
    lines = [
        _line(left, nll, "pseudo NLL", FOREGROUND, "-"),
        _line(right, ece, "pseudo ECE", BACKGROUND, "--"),
    ]
    left.set_xlabel("epoch")
    right.spines["right"].set_visible(True)
    right.grid(visible=False)
    left.legend(handles=lines, loc="upper right")
    return figure


def _line(axis: Axes, values: Sequence[float], name: str, colour: str, style: str) -> Line2D:
    numbers = np.array(values, np.float64)
    single = np.isfinite(numbers).sum() < 2  # a line needs two points
    (line,) = axis.plot(
        np.arange(len(numbers)),
        numbers,
        ls=style,
        marker="o" if single else "",
        color=colour,
        label=name,
    )
    axis.set_ylabel(name, color=colour)
    log_if_wide([axis], numbers, "y")
    return line
