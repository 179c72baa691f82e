"""Bland and Altman's figure of volumes: a panel a line, a point a case and run."""

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gradsurge.experiments.figure_data.study.volume_agreement import Agreement, VolumeAgreement
from gradsurge.report.figures.fitted_text import short
from gradsurge.report.figures.log_axes import log_if_wide
from gradsurge.report.figures.model_looks import ModelLook
from gradsurge.report.figures.study.line_looks import LOOKS, line_title
from gradsurge.report.style import INK, styled

_UNITS = {"cm2": "cm²", "100 pixels": "×100 px"}
_COLUMNS = 3


@styled
def draw(data: VolumeAgreement) -> Figure:
    """Draw estimate less truth against their mean, with bias and limits of agreement."""
    columns = 2 if len(data.lines) == 4 else min(_COLUMNS, len(data.lines))
    rows = -(-len(data.lines) // columns)
    figure = Figure(
        figsize=(max(4.6, 0.4 + 2.27 * columns), 0.75 + 1.95 * rows), layout="constrained"
    )
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    unit, what = _UNITS.get(data.unit, data.unit), "volume" if data.unit == "ml" else "area"
    for axis, (name, agreement) in zip(grid.flat, data.lines.items(), strict=False):
        _draw_panel(axis, agreement, LOOKS[name.role])
        axis.set_title(
            f"{line_title(name)}\n{_told(agreement, unit)}",
            fontsize=7.5,
        )
    means = [(a.truth + a.estimate) / 2 for a in data.lines.values()]
    log_if_wide(list(grid.flat), np.concatenate(means), "x", factor=50.0)
    for axis in grid.flat[len(data.lines) :]:
        axis.set_visible(False)
    for column in range(columns):
        lowest = max(r for r in range(rows) if r * columns + column < len(data.lines))
        grid[lowest, column].set_xlabel(f"mean of both, {unit}")
        grid[lowest, column].tick_params(labelbottom=True)
    for axis in grid[:, 0]:
        axis.set_ylabel(f"estimate − truth, {unit}")
    figure.suptitle(
        f"{data.study}, {short(data.structure)}: {what} as the sum of probabilities.\n"
        f"Points: cases of all runs; lines: bias and limits of agreement, means over runs",
        fontsize=9,
        parse_math=False,
    )
    return figure


def _told(agreement: Agreement, unit: str) -> str:
    """Return bias and limits with the same decimals: two digits of the wider limit.

    >>> _told(Agreement(np.zeros(1), np.zeros(1), 0.0214, -0.88, 0.9224), "ml")
    'bias +0.02 ml, limits -0.88 to +0.92'
    >>> _told(Agreement(np.zeros(1), np.zeros(1), -0.004, -8.1, 12.3), "ml")
    'bias +0 ml, limits -8 to +12'
    """
    widest = max(abs(agreement.low), abs(agreement.high))
    decimals = max(0, 1 - math.floor(math.log10(widest))) if widest > 0 else 0
    bias, low, high = (
        f"{round(value, decimals) + 0.0:+.{decimals}f}"  # of -0.0 that makes 0.0
        for value in (agreement.bias, agreement.low, agreement.high)
    )
    return f"bias {bias} {unit}, limits {low} to {high}"


def _draw_panel(axis: Axes, agreement: Agreement, look: ModelLook) -> None:
    gaps = agreement.estimate - agreement.truth
    axis.axhspan(agreement.low, agreement.high, color=look.colour, alpha=0.1, lw=0)
    axis.axhline(0, color=INK, lw=0.7)
    axis.axhline(agreement.bias, color=look.colour, lw=1.4)
    for limit in (agreement.low, agreement.high):
        axis.axhline(limit, color=look.colour, lw=1, ls=(0, (4, 2)))
    axis.plot(
        (agreement.truth + agreement.estimate) / 2,
        gaps,
        ls="none",
        marker=look.marker,
        ms=4 if len(gaps) <= 100 else 3,
        color=look.colour,
        mec="white",
        mew=0.3,
        alpha=0.8,
    )
