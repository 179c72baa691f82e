"""Figure 5 of the paper: trainings with SGD and with Adam, Dice against Dice surgery.

A column an optimiser; from top to bottom training loss, validation Dice and validation NLL. What
crosses a column is one loss, so that a reader sees whether a field without a potential trains as
steadily as a gradient.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from gradsurge.experiments.runs.history import RunHistory
from gradsurge.report.figures.log_axes import log_if_wide
from gradsurge.report.figures.loss_looks import loss_look
from gradsurge.report.figures.loss_titles import loss_title
from gradsurge.report.figures.training_curves import Curves, Line
from gradsurge.report.figures.training_curves import compute as curves_of
from gradsurge.report.style import styled
from gradsurge.training import TrainSettings

ROWS = {"loss": "training loss", "dice": "validation Dice", "nll": "validation NLL"}


class OptimiserCurve(NamedTuple):
    """One run: its place among the panels, and its lines."""

    optimiser: str
    loss: str
    learning_rate: float
    curves: Curves


def compute(runs: Sequence[RunHistory]) -> list[OptimiserCurve]:
    """Return the lines of runs, by optimiser and then loss, as first met."""
    found = [
        OptimiserCurve(
            optimiser_title(run.config.training),
            run.config.loss,
            run.config.training.learning_rate,
            curves_of(run),
        )
        for run in runs
    ]
    optimisers = list(dict.fromkeys(curve.optimiser for curve in found))
    losses = list(dict.fromkeys(curve.loss for curve in found))
    return sorted(found, key=lambda c: (optimisers.index(c.optimiser), losses.index(c.loss)))


def optimiser_title(settings: TrainSettings) -> str:
    """Return an optimiser's name for a title.

    >>> optimiser_title(TrainSettings(steps=1))
    'SGD + Nesterov momentum'
    """
    if settings.optimiser == "adamw":
        return "AdamW"
    return "SGD + Nesterov momentum" if settings.momentum else "SGD"


def numbers(curves: Sequence[OptimiserCurve]) -> dict[str, float]:
    """Return the last validation Dice and NLL of each run that has any."""
    return {
        f"{curve.curves.name}, {curve.optimiser}: last {ROWS[score]}": float(line.values[-1])
        for curve in curves
        for score in ("dice", "nll")
        if len((line := curve.curves.scores[score]).values)
    }


@styled
def draw(curves: Sequence[OptimiserCurve]) -> Figure:
    """Draw a column an optimiser, a row a score; rows share their scale.

    Raises:
        ValueError: there is no run.
    """
    if not curves:
        raise ValueError("curves: expected at least one run, got none")
    columns = list(dict.fromkeys(curve.optimiser for curve in curves))
    losses = list(dict.fromkeys(curve.loss for curve in curves))
    width = 7.0 if len(columns) > 1 else 4.0
    figure = Figure(figsize=(width, 5.8), layout="constrained")
    grid = figure.subplots(len(ROWS), len(columns), squeeze=False, sharex="col", sharey="row")
    for column, optimiser in enumerate(columns):
        for curve in (c for c in curves if c.optimiser == optimiser):
            _draw_run(grid[:, column], curve, losses.index(curve.loss))
        grid[0, column].set_title(optimiser)
        grid[0, column].legend(*_one_a_label(grid[0, column]), loc="best")
        grid[-1, column].set_xlabel("step")
        grid[-1, column].set_xlim(left=0)
    for axis, title in zip(grid[:, 0], ROWS.values(), strict=True):
        axis.set_ylabel(title)
    shown = [c.curves.scores["nll"].values for c in curves]
    log_if_wide(grid[-1], np.concatenate(shown), "y")
    return figure


def _draw_run(axes: NDArray[np.object_], curve: OptimiserCurve, index: int) -> None:
    look = loss_look(curve.loss, index)
    lines = (curve.curves.loss, *(curve.curves.scores[name] for name in list(ROWS)[1:]))
    for axis, line in zip(axes, lines, strict=True):
        marker = None if axis is axes[0] else look.marker
        label = f"{loss_title(curve.loss)}, rate {curve.learning_rate:g}"
        _draw_line(axis, line, look.colour, look.dashes, marker, label)


def _draw_line(
    axis: Axes,
    line: Line,
    colour: str,
    dashes: tuple[float, ...],
    marker: str | None,
    label: str,
) -> None:
    dashes_or_none = dashes or (None, None)
    axis.plot(
        line.steps,
        line.values,
        color=colour,
        dashes=dashes_or_none,
        marker=marker,
        ms=3.5,
        lw=1.5,
        label=label,
    )


def _one_a_label(axis: Axes) -> tuple[list[object], list[str]]:
    """Return what a legend needs; seeds of one loss are named once."""
    handles, labels = axis.get_legend_handles_labels()
    first = {label: handle for handle, label in reversed([*zip(handles, labels, strict=True)])}
    return list(first.values())[::-1], list(first)[::-1]
