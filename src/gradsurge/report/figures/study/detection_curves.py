"""Detection rate against false positives a case; thresholds go along each line."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import StrMethodFormatter
from numpy.typing import NDArray

from gradsurge.experiments.figure_data.study.detection_curves import (
    DetectionCurve,
    DetectionCurves,
)
from gradsurge.report.figures.fitted_text import short
from gradsurge.report.figures.model_looks import ModelLook
from gradsurge.report.figures.study.line_looks import LEGEND_COLUMNS, LOOKS, line_title
from gradsurge.report.style import styled

_MARKED = 0.5
_WIDE = 8.0  # false positives a case above which the axis is squeezed


@styled
def draw(data: DetectionCurves) -> Figure:
    """Draw a line a way to calibrate; a large sign stands where the threshold is 0.5."""
    figure = Figure(figsize=(7.0, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    for name, curve in data.lines.items():
        look = LOOKS[name.role]
        _draw_line(left, curve.false_positives.mean, curve, look, line_title(name))
        _draw_line(right, np.array(curve.thresholds), curve, look, line_title(name))
    most = max(float(np.nanmax(c.false_positives.mean)) for c in data.lines.values())
    if most > _WIDE:
        left.set_xscale("symlog", linthresh=1.0)
        left.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    left.set(xlabel="false positives a case", ylabel=f"share of {data.lesions} lesions found")
    left.set_title("detection against false alarms (left and up is better)", fontsize=8)
    right.set(xlabel="threshold of the probability", xlim=(0, 1))
    right.set_title("what the threshold does", fontsize=8)
    left.set_xlim(left=0)
    low = min(float(np.nanmin(c.rate.mean)) for c in data.lines.values())
    for axis in (left, right):
        axis.set_ylim(max(0.0, low - 0.05), 1.0)
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=LEGEND_COLUMNS)
    figure.suptitle(
        f"{data.study}, {short(data.structure)}: {data.lesions} lesions in {data.cases} cases; "
        f"large signs: threshold 0.5",
        fontsize=9,
        parse_math=False,
    )
    return figure


def _draw_line(
    axis: Axes, x: NDArray[np.float64], curve: DetectionCurve, look: ModelLook, label: str
) -> None:
    rate = curve.rate.mean
    axis.plot(
        x,
        rate,
        color=look.colour,
        dashes=look.dashes or (None, None),
        marker=look.marker,
        ms=2.2,
        lw=1.3,
        label=label,
        clip_on=False,
    )
    at = [k for k, t in enumerate(curve.thresholds) if abs(t - _MARKED) < 1e-9]
    axis.plot(
        x[at],
        rate[at],
        ls="none",
        marker=look.marker,
        ms=7,
        color=look.colour,
        mec="white",
        mew=0.7,
        clip_on=False,
        zorder=5,
    )
