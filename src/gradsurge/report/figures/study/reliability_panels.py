"""Reliability diagrams side by side: a loss before and after surgery, on the cases of a study."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gradsurge.experiments.figure_data.study.reliability_panels import (
    BINS,
    SCORES,
    Panel,
    ReliabilityPanels,
)
from gradsurge.report.figures.study.line_looks import LOOKS, SCORE_TITLES, line_title
from gradsurge.report.style import FAINT, styled


@styled
def draw(data: ReliabilityPanels) -> Figure:
    """Draw a diagram a line, its histogram below; a thin curve a run where there are several."""
    figure = Figure(figsize=(0.55 + 1.95 * len(data.panels), 3.3), layout="constrained")
    axes = figure.subplots(
        2, len(data.panels), sharex=True, sharey="row", squeeze=False, height_ratios=(3, 1)
    )
    for (above, below), panel in zip(axes.T, data.panels, strict=True):
        _draw_curves(above, panel)
        _draw_voxels(below, panel)
        told = "  ".join(f"{SCORE_TITLES[name]} {panel.scores[name]:.4f}" for name in SCORES)
        above.set_title(f"{line_title(panel.name)}\n{told}", fontsize=8.5)
        below.set_xlabel("predicted probability")
    axes[0, 0].set_ylabel("observed frequency")
    axes[1, 0].set_ylabel("voxels")
    figure.align_ylabels(axes[:, 0])
    figure.suptitle(
        f"{data.study}: what happened where the network said p, all test voxels",
        fontsize=9,
        parse_math=False,
    )
    return figure


def _draw_curves(axis: Axes, panel: Panel) -> None:
    look, runs = LOOKS[panel.name.role], len(panel.probability)
    axis.plot([0, 1], [0, 1], color=FAINT, lw=1, ls=(0, (4, 3)), zorder=1)
    for probability, frequency in zip(panel.probability, panel.frequency, strict=True):
        axis.fill_between(
            probability, probability, frequency, color=look.colour, alpha=0.22 / runs, lw=0
        )
        axis.plot(
            probability, frequency, color=look.colour, lw=1.1, marker=look.marker, ms=2.6, zorder=3
        )
    axis.set(xlim=(0, 1), ylim=(0, 1))
    axis.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    axis.set_yticks([0, 0.5, 1], ["0", "0.5", "1"])


def _draw_voxels(axis: Axes, panel: Panel) -> None:
    colour = LOOKS[panel.name.role].colour
    axis.stairs(
        np.maximum(panel.voxels, 0.5),
        np.linspace(0, 1, BINS + 1),
        baseline=0.5,
        fill=True,
        color=colour,
        alpha=0.6,
    )
    axis.set_axisbelow(True)
    axis.set_yscale("log")
    axis.minorticks_off()
