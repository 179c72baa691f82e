"""Curves of trainings over their steps: loss, Dice, NLL, ECE and learning rate; runs overlaid."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter
from numpy.typing import NDArray

from gradsurge.experiments.runs.history import RunHistory
from gradsurge.report.figures.fitted_text import short
from gradsurge.report.figures.model_looks import ModelLook, model_look
from gradsurge.report.style import FAINT, Format, save, styled

Array = NDArray[np.float64]

_POINTS = 50  # of a loss curve: what lies between is averaged
_SCORES = {"dice": "Dice", "nll": "NLL", "ece": "ECE", "brier": "Brier score"}


class Line(NamedTuple):
    """One line of a panel."""

    steps: Array
    values: Array


class Curves(NamedTuple):
    """The lines of one run.

    Attributes:
        run: its name.
        trained_with: name of its loss.
        loss, learning_rate: of the steps.
        scores: of the validations, by name.
        best: the step of the best validation; None before the first.
        end: score -> value after correction, at the end.
    """

    run: str
    trained_with: str
    loss: Line
    learning_rate: Line
    scores: dict[str, Line]
    best: int | None
    end: dict[str, float]

    @property
    def name(self) -> str:
        """Run and loss."""
        return f"{self.run} ({self.trained_with})"


def compute(run: RunHistory) -> Curves:
    """Return the lines of a run."""
    steps = np.array(run.steps, np.float64)
    best = [v.step for v in run.validations if v.best]
    end = {}
    if run.outcome is not None:
        chosen = run.outcome.scores[run.outcome.correction]
        found = {name: getattr(chosen, name) for name in ("nll", "ece", "brier")}
        found["dice"] = run.outcome.mask_dice
        end = {name: value for name, value in found.items() if value is not None}
    return Curves(
        run=run.name,
        trained_with=run.config.loss,
        loss=smoothed(steps, np.array(run.losses)),
        learning_rate=smoothed(steps, np.array(run.learning_rates)),
        scores={name: _of_validations(run, name) for name in _SCORES},
        best=best[-1] if best else None,
        end=end,
    )


def smoothed(steps: Array, values: Array) -> Line:
    """Return means over stretches of steps, at most fifty points.

    >>> smoothed(np.arange(1.0, 5.0), np.array([4.0, 2.0, 1.0, 1.0])).values.tolist()
    [4.0, 2.0, 1.0, 1.0]
    """
    parts = np.array_split(np.arange(len(steps)), min(len(steps), _POINTS) or 1)
    kept = [part for part in parts if len(part) and np.isfinite(values[part]).any()]
    return Line(
        np.array([steps[part].mean() for part in kept]),
        np.array([np.nanmean(values[part]) for part in kept]),
    )


@styled
def draw(runs: Sequence[Curves]) -> Figure:
    """Draw six panels, and below them which line is which run."""
    lines = -(-len(runs) // 2)
    figure = Figure(figsize=(9.0, 5.1 + 0.2 * lines), layout="constrained")
    grid = figure.subplots(2, 3).ravel()
    looks = [model_look(k) for k in range(len(runs))]
    for curves, look in zip(runs, looks, strict=True):
        _draw_line(grid[0], curves.loss, look)
        for axis, name in zip(grid[1:5], _SCORES, strict=True):
            _draw_score(axis, curves, name, look)
        _draw_line(grid[5], curves.learning_rate, look)
    titles = ("training loss", *(f"validation {t}" for t in _SCORES.values()), "learning rate")
    for axis, title in zip(grid, titles, strict=True):
        _finish(axis, title)
    for axis in grid[2:5]:
        _log_if_wide(axis)
    handles = [_handle(c, look) for c, look in zip(runs, looks, strict=True)]
    handles += [
        Line2D([], [], ls="", marker="o", ms=7, mfc="none", mec=FAINT, label="best weights, raw"),
        Line2D(
            [],
            [],
            ls="",
            marker="*",
            ms=9,
            color=FAINT,
            label="the same, as the run uses them: all cases, corrected",
        ),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2)
    return figure


def write(runs: Sequence[RunHistory], file: Path) -> Path:
    """Draw the curves of runs into a .png or .pdf."""
    kind: Format = "pdf" if file.suffix == ".pdf" else "png"
    save(draw([compute(run) for run in runs]), file.parent, file.stem, [kind])
    return file


def _draw_line(axis: Axes, line: Line, look: ModelLook) -> None:
    axis.plot(
        line.steps, line.values, color=look.colour, dashes=look.dashes or (None, None), lw=1.4
    )


def _draw_score(axis: Axes, curves: Curves, name: str, look: ModelLook) -> None:
    line = curves.scores[name]
    _draw_line(axis, line, look)
    axis.plot(line.steps, line.values, ls="", marker=look.marker, ms=3, color=look.colour)
    best = line.steps == (np.nan if curves.best is None else curves.best)
    at, values, colour = line.steps[best], line.values[best], look.colour
    axis.plot(at, values, ls="", marker="o", ms=8, mfc="none", color=colour)
    if name in curves.end and len(at):
        axis.plot(at, curves.end[name], ls="", marker="*", ms=9, zorder=5, color=colour)


def _of_validations(run: RunHistory, name: str) -> Line:
    found = [(v.step, v.scores[name]) for v in run.validations if name in v.scores]
    steps, values = zip(*found, strict=True) if found else ((), ())
    return Line(np.array(steps, np.float64), np.array(values, np.float64))


def _finish(axis: Axes, title: str) -> None:
    axis.set_title(title)
    axis.set_xlabel("step")
    axis.set_xlim(left=0)


def _log_if_wide(axis: Axes) -> None:
    """Use a logarithmic scale where the first values would flatten the last ones."""
    shown = np.concatenate([np.asarray(line.get_ydata(), np.float64) for line in axis.lines])
    shown = shown[np.isfinite(shown)]
    if len(shown) and shown.min() > 0 and shown.max() > 5 * shown.min():
        axis.set_yscale("log")
        axis.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axis.yaxis.set_minor_formatter(NullFormatter())


def _handle(curves: Curves, look: ModelLook) -> Line2D:
    name = curves._replace(run=short(curves.run)).name.replace("$", r"\$")
    dashes = look.dashes or (None, None)
    return Line2D([], [], color=look.colour, dashes=dashes, marker=look.marker, ms=4, label=name)
