"""Every loss raw, after the closed form and after temperature scaling: how far each one moves."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from gradsurge.experiments.figure_data.study.raw_corrected import SCORES, RawCorrected
from gradsurge.report.figures.log_axes import log_if_wide
from gradsurge.report.figures.loss_titles import loss_title
from gradsurge.report.figures.study.line_looks import SCORE_TITLES
from gradsurge.report.style import FAINT, INK, OTHER, OURS, styled

_SIGNS: dict[str, dict[str, Any]] = {
    # A ring round what lies at the same place.
    "none": {"marker": "o", "mfc": "none", "mec": INK, "ms": 6.5, "zorder": 4, "label": "raw"},
    "temperature": {
        "marker": "v",
        "mfc": OTHER,
        "mec": OTHER,
        "ms": 5,
        "label": "temperature, fitted on validation",
    },
    "equilibrium": {
        "marker": "D",
        "mfc": OURS,
        "mec": OURS,
        "ms": 4.5,
        "label": "closed form, nothing fitted",
    },
}
_SPAN: dict[str, Any] = {"lw": 2.6, "alpha": 0.35}
_WIDE = 3.0  # one loss far off hides what tells the others apart


@styled
def draw(data: RawCorrected) -> Figure:
    """Draw a row a loss, a panel a score; pale bars span the runs."""
    rows = len(data.losses)
    figure = Figure(figsize=(7.0, 1.25 + 0.27 * rows), layout="constrained")
    panels = figure.subplots(1, len(SCORES), sharey=True)
    for axis, score in zip(panels, SCORES, strict=True):
        for row, loss in enumerate(data.losses):
            _draw_row(axis, data, loss, score, row)
        values = [b.mean for loss in data.losses for b in data.scores[loss, score].values()]
        wide = log_if_wide([axis], np.concatenate(values), "x", _WIDE)
        if not wide:
            axis.locator_params(axis="x", nbins=5)
        axis.set_title(f"{SCORE_TITLES[score]} ↓{', log scale' if wide else ''}", fontsize=9)
        axis.grid(visible=False, axis="y")
    panels[0].set_yticks(range(rows), [loss_title(loss) for loss in data.losses])
    panels[0].set_ylim(rows - 0.5, -0.5)
    handles = [Line2D([], [], ls="none", **sign) for sign in _SIGNS.values()]
    handles.append(Line2D([], [], color=INK, label="from run to run", **_SPAN))
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    figure.suptitle(
        f"{data.study}: how far corrections move each loss, all voxels pooled",
        fontsize=9,
        parse_math=False,
    )
    return figure


def _draw_row(axis: Axes, data: RawCorrected, loss: str, score: str, row: int) -> None:
    bands = data.scores[loss, score]
    for name, sign in _SIGNS.items():
        if name not in bands:
            continue
        band, look = bands[name], {k: v for k, v in sign.items() if k != "label"}
        if name != "none" and "none" in bands:
            ends = [bands["none"].mean[0], band.mean[0]]
            axis.plot(ends, [row, row], color=FAINT, lw=1.2, zorder=1)
        axis.plot([band.low[0], band.high[0]], [row, row], color=sign["mec"], **_SPAN)
        axis.plot(band.mean, [row], ls="none", **{"zorder": 3, **look})
