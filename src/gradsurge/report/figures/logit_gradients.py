"""Figure 2 of the paper: what Dice, cross-entropy and surgery pull at in one real prediction."""

import math

from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.figure import Figure

from gradsurge.experiments.figure_data.confident_errors import CONFIDENT
from gradsurge.experiments.figure_data.gradients import LogitGradients
from gradsurge.experiments.figure_data.windows import marks_reach, whole
from gradsurge.report.figures.fitted_text import short, wrapped
from gradsurge.report.figures.loss_titles import loss_title
from gradsurge.report.figures.planes import (
    PROBABILITIES,
    draw_circles,
    draw_image,
    draw_label,
    draw_map,
    is_fine,
)
from gradsurge.report.style import styled

_PULLS = "viridis"
_WIDTH = 1.2  # inches of a panel
_SIZE = 8.5  # points of the headline


def numbers(data: LogitGradients) -> dict[str, float]:
    """Return how hard each loss pulls at confident errors, against its hardest pull."""
    return {
        f"{loss}: mean share of the largest gradient at confident errors": share
        for loss, share in data.at_confident_errors.items()
        if math.isfinite(share)
    }


@styled
def draw(data: LogitGradients, *, zoomed: bool = True) -> Figure:
    """Draw image, prediction and the magnitudes of each loss side by side.

    Args:
        data: of a slice.
        zoomed: whether the window with the confident errors is shown, or all of the slice.
    """
    shown = data.shown
    window = shown.window if zoomed else whole(shown.label)
    rows, columns = window.shape
    panels = 2 + len(data.pulls)
    tall = _WIDTH * min(rows * shown.cut.aspect / columns, 2.0)
    figure = Figure(figsize=(_WIDTH * panels + 0.1, tall + 1.15), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.02, wspace=0.01)  # type: ignore[union-attr, call-arg] # of the constrained one
    grid = figure.add_gridspec(2, panels, height_ratios=(tall, 0.08))
    axes = [figure.add_subplot(grid[0, column]) for column in range(panels)]
    draw_image(axes[0], shown.image, window, shown.cut.aspect)
    draw_map(axes[1], data.probability, window, shown.cut.aspect)
    for axis, share in zip(axes[2:], data.pulls.values(), strict=True):
        draw_map(axis, share, window, shown.cut.aspect, _PULLS)
    _, reach = marks_reach(shown.window, shown.cut.aspect)
    draw_label(axes[0], shown.label, 0.5 if is_fine(window.cut(shown.label)) else 0.9)
    for axis in axes:
        draw_circles(axis, shown.marks, 1.6 * reach, shown.cut.aspect)
    titles = ("image, label", "prediction", *(_pull_title(data, name) for name in data.pulls))
    for axis, title in zip(axes, titles, strict=True):
        axis.set_title(title, fontsize=7.5, pad=3)
    _draw_bar(figure.add_subplot(grid[1, 1]), PROBABILITIES, "probability p")
    what = "|gradient on the logit| (of surgery: |field|), as a share of the loss's largest"
    _draw_bar(figure.add_subplot(grid[1, 2:]), _PULLS, what)
    headline = wrapped(_headline(data), figure.get_figwidth(), _SIZE)
    figure.suptitle(headline, fontsize=_SIZE, parse_math=False)
    return figure


def _draw_bar(axis: Axes, colours: str, label: str) -> None:
    mapped = ScalarMappable(cmap=colours)  # from 0 to 1 by default
    bar = axis.figure.colorbar(mapped, cax=axis, orientation="horizontal", ticks=[0, 0.5, 1])
    bar.set_label(label, fontsize=7.5)


def _headline(data: LogitGradients) -> str:
    shown = data.shown
    parts = (short(shown.case), short(shown.structure), shown.cut.title)
    trained = f"A network trained with {loss_title(data.loss)}"
    place = ", ".join((trained, *(part for part in parts if part)))
    if any(map(math.isnan, data.at_confident_errors.values())):
        return f"{place}: no confident error, |y − p| ≥ {CONFIDENT:g}"
    return (
        f"{place}.\nCircles: confident errors, |y − p| ≥ {CONFIDENT:g}.\n"
        f"Percentages: mean pull on all confident errors of the case, of the loss's largest pull"
    )


def _pull_title(data: LogitGradients, name: str) -> str:
    share = data.at_confident_errors[name]
    return name if math.isnan(share) else f"{name}\n{float(f'{100 * share:.2g}'):g} %"
