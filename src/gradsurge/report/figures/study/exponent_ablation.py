"""Scores over the decline exponent n, ours and the paper's: shares of their own at n = 20."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gradsurge.experiments.figure_data.study.exponent_ablation import ExponentAblation
from gradsurge.report.figures.loss_titles import loss_title
from gradsurge.report.figures.study.line_looks import SCORE_TITLES
from gradsurge.report.style import FAINT, FOREGROUND, styled


@styled
def draw(data: ExponentAblation) -> Figure:
    """Draw a panel a score; calibration scores share their scale."""
    scores = list(data.ours)
    figure = Figure(figsize=(7.2, 2.55), layout="constrained")
    panels = figure.subplots(1, len(scores), squeeze=False)[0]
    for axis, score in zip(panels, scores, strict=True):
        _draw_panel(axis, data, score)
        better = "↑" if score == "dsc" else "↓"
        axis.set_title(f"{SCORE_TITLES[score]} {better}", fontsize=8.5)
        axis.set_xlabel("exponent n")
    panels[0].set_ylabel(f"share of the value at n = {data.reference}")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)
    figure.suptitle(
        f"{data.study}: what the exponent n of {loss_title(data.loss)} changes",
        fontsize=9,
        parse_math=False,
    )
    return figure


def _draw_panel(axis: Axes, data: ExponentAblation, score: str) -> None:
    axis.axhline(1.0, color=FAINT, lw=0.7)
    if score in data.paper:
        axis.plot(
            data.paper_exponents,
            data.paper[score],
            color=FAINT,
            ls=(0, (4, 2)),
            marker="o",
            ms=3,
            lw=1.2,
            label="the paper, Table 3 (FIVES)",
        )
    band = data.ours[score]
    axis.fill_between(data.exponents, band.low, band.high, color=FOREGROUND, alpha=0.15, lw=0)
    axis.plot(
        data.exponents, band.mean, color=FOREGROUND, marker="^", ms=4, lw=1.5, label="ours, raw"
    )
    axis.set_xscale("log")
    axis.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1000"])
    axis.minorticks_off()
    axis.tick_params(labelsize=6.5)
