"""One score over cases: a point a case and a box a model."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from gradsurge.report.figures.model_looks import ModelLook
from gradsurge.report.style import FAINT, INK, styled

Array = NDArray[np.float64]

_ENOUGH_FOR_A_BOX = 5  # quartiles of fewer points say less than the points


class Box(NamedTuple):
    """Quartiles, and the furthest values within one and a half times their distance."""

    low: float
    first: float
    median: float
    third: float
    high: float


class CaseDistributions(NamedTuple):
    """Values of each model, sorted; ``missing`` counts those that are NaN or infinite."""

    values: list[Array]
    boxes: list[Box | None]
    missing: list[int]
    logarithmic: bool


def compute(values: Sequence[Sequence[float]]) -> CaseDistributions:
    """Sort out what can be drawn; spans above two decades get a logarithmic axis.

    >>> compute([[0.2, math.nan, 0.1], [0.3]]).missing
    [1, 0]
    """
    kept, missing = [], []
    for column in values:
        found = np.asarray(column, np.float64)
        finite = np.sort(found[np.isfinite(found)])
        kept.append(finite)
        missing.append(len(found) - len(finite))
    together = np.concatenate(kept) if kept else np.empty(0)
    wide = together.size > 0 and together.min() > 0 and together.max() > 100 * together.min()
    return CaseDistributions(kept, [box(column) for column in kept], missing, bool(wide))


def box(values: Array) -> Box | None:
    """Return Tukey's box of sorted values; None for fewer than five.

    >>> tuple(map(float, box(np.array([1.0, 2.0, 3.0, 4.0, 100.0]))))
    (1.0, 2.0, 3.0, 4.0, 4.0)
    """
    if len(values) < _ENOUGH_FOR_A_BOX:
        return None
    first, median, third = np.quantile(values, (0.25, 0.5, 0.75))
    reach = 1.5 * (third - first)
    near = values[(values >= first - reach) & (values <= third + reach)]
    return Box(near[0], first, median, third, near[-1])


@styled
def draw(data: CaseDistributions, looks: Sequence[ModelLook]) -> Figure:
    """Draw a line of points a model, from top to bottom; letters stand for names."""
    rows = len(data.values)
    height = 0.34 + 0.42 * rows
    figure = Figure(figsize=(3.3, height))
    axis = figure.add_axes((0.09, 0.27 / height, 0.87, 1 - 0.32 / height))
    for row, (values, found, look) in enumerate(zip(data.values, data.boxes, looks, strict=True)):
        if found is not None:
            _draw_box(axis, row, found)
        _draw_points(axis, row, values, look)
    axis.set_ylim(rows - 0.5, -0.5)
    axis.set_yticks(range(rows), [look.letter for look in looks], fontweight="bold")
    axis.tick_params(axis="y", length=0, labelsize=9)
    axis.grid(visible=False, axis="y")
    axis.spines["left"].set_visible(False)
    if data.logarithmic:
        axis.set_xscale("log")
    else:
        axis.locator_params(axis="x", nbins=5)
    return figure


def _draw_box(axis: Axes, row: int, found: Box) -> None:
    lines: dict[str, Any] = {"color": FAINT, "lw": 1, "zorder": 2}
    axis.hlines([row, row], [found.low, found.third], [found.first, found.high], **lines)
    axis.vlines([found.low, found.high], row - 0.14, row + 0.14, **lines)
    axis.fill_between(
        [found.first, found.third], row - 0.3, row + 0.3, fc="#F6F6F6", ec=FAINT, lw=1, zorder=2
    )
    axis.vlines(found.median, row - 0.3, row + 0.3, color=INK, lw=1.6, zorder=2.5)


def _draw_points(axis: Axes, row: int, values: Array, look: ModelLook) -> None:
    axis.plot(
        values,
        row + _spread(len(values)),
        ls="none",
        marker=look.marker,
        ms=4 if len(values) <= 100 else 2.5,
        mec="white",
        mew=0.4,
        color=look.colour,
        alpha=0.8,
        clip_on=False,
        zorder=3,
    )


def _spread(number: int) -> Array:
    """Return offsets that keep neighbours apart: multiples of the golden ratio, always the same."""
    golden = (math.sqrt(5) - 1) / 2
    steps: Array = np.arange(1, number + 1, dtype=np.float64)
    return (steps * golden % 1 - 0.5) * 0.5
