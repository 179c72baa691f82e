"""Calibration under shift: a column a kind of shift, a row a score, a line a way to calibrate."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gradsurge.experiments.figure_data.study import LineName
from gradsurge.experiments.figure_data.study.lines import Band
from gradsurge.experiments.figure_data.study.shift_curves import SCORES, ShiftCurves
from gradsurge.report.figures.log_axes import log_if_wide
from gradsurge.report.figures.loss_titles import loss_title
from gradsurge.report.figures.study.line_looks import (
    LEGEND_COLUMNS,
    LOOKS,
    SCORE_TITLES,
    line_title,
)
from gradsurge.report.style import styled

_ABOUT = {
    "blur": "blur\n(deviation, voxels)",
    "noise": "noise\n(deviations of the image)",
    "contrast": "contrast\n(exponent of the curve)",
    "resolution": "resolution\n(voxels that become one)",
}


@styled
def draw(data: ShiftCurves) -> Figure:
    """Draw the lines; shades span the runs."""
    kinds = list(data.strengths)
    scores = [s for s in SCORES if any(data.bands[kind, s] for kind in kinds)]
    figure = Figure(figsize=(7.2, 0.9 + 1.65 * len(scores)), layout="constrained")
    grid = figure.subplots(len(scores), len(kinds), sharex="col", sharey="row", squeeze=False)
    for row, score in zip(grid, scores, strict=True):
        for kind, axis in zip(kinds, row, strict=True):
            _draw_panel(axis, data.bands[kind, score])
        row[0].set_ylabel(f"{SCORE_TITLES[score]} {'↑' if score == 'dice' else '↓'}")
        means = [b.mean for kind in kinds for b in data.bands[kind, score].values()]
        if score != "dice":
            log_if_wide(row, np.concatenate(means), "y")
    for kind, axis in zip(kinds, grid[-1], strict=True):
        values = data.strengths[kind]
        axis.set_xticks(range(len(values) + 1), ["as is", *(f"{v:g}" for v in values)])
        axis.tick_params(axis="x", labelsize=6.5)
        axis.set_xlabel(_ABOUT.get(kind, kind), fontsize=7.5)
    handles = {
        label: handle
        for axis in grid.flat
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)
    }
    figure.legend(
        list(handles.values()),
        list(handles),
        loc="outside lower center",
        ncols=LEGEND_COLUMNS,
        columnspacing=1.2,
        handletextpad=0.5,
    )
    figure.suptitle(
        f"{data.study}: {loss_title(data.base)} and its surgery on images that get worse",
        fontsize=9,
        parse_math=False,
    )
    return figure


def _draw_panel(axis: Axes, bands: Mapping[LineName, Band]) -> None:
    for name, band in bands.items():
        look = LOOKS[name.role]
        steps = np.arange(len(band.mean))
        axis.fill_between(steps, band.low, band.high, color=look.colour, alpha=0.15, lw=0)
        axis.plot(
            steps,
            band.mean,
            color=look.colour,
            dashes=look.dashes or (None, None),
            marker=look.marker,
            ms=3.2,
            lw=1.3,
            label=line_title(name),
        )
