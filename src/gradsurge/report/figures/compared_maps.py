"""Figures 3 and 7 of the paper: probability maps side by side, a row a case.

Zoomed, arrows show where the first model is surely wrong. Whole slices show what the maps are like
all over: frames tell where the zoomed figure looks.
"""

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from gradsurge.experiments.figure_data.confident_errors import CONFIDENT
from gradsurge.experiments.figure_data.map_comparison import ComparedMaps, MapName
from gradsurge.experiments.figure_data.windows import Window, whole
from gradsurge.report.figures.arrow_field import ArrowField
from gradsurge.report.figures.fitted_text import drawable, letters, short, wrapped
from gradsurge.report.figures.loss_titles import loss_title
from gradsurge.report.figures.planes import (
    OUTLINE,
    PROBABILITIES,
    draw_arrows,
    draw_image,
    draw_label,
    draw_map,
    is_fine,
)
from gradsurge.report.style import styled

_WIDTH = 7.0  # inches of all panels together
_MOST, _LEAST = 1.75, 1.15  # inches of one: where there are many, the figure grows
_HEADLINE, _TITLE, _PLACE = 9, 8, 6.5  # points


def numbers(rows: Sequence[ComparedMaps]) -> dict[str, float]:
    """Return the mean error of each model where the first one is surely wrong, by case."""
    what = "mean |y - p| where the first is surely wrong"
    return {
        f"{row.shown.case}: {what}, {_words(name, name.run)}": e
        for row in rows
        for name, e in row.errors.items()
        if math.isfinite(e)
    }


@styled
def draw_zoomed(rows: Sequence[ComparedMaps]) -> Figure:
    """Draw the window of each case with the confident errors of the first model, and arrows."""
    figure, grid = _panels(rows, [row.shown.window for row in rows])
    for row, axes in zip(rows, grid, strict=True):
        shown = row.shown
        _draw_row(row, axes, shown.window)
        draw_label(axes[0], shown.label, 0.6)
        arrows = ArrowField(shown.label, shown.window, shown.cut.aspect, 72 * _width(row))
        for axis in axes[2:]:
            if not is_fine(shown.window.cut(shown.label)):
                draw_label(axis, shown.label, 0.5)
            draw_arrows(axis, shown.marks, arrows)
    first = _full_title(next(iter(rows[0].maps)))
    sure = any(row.shown.marks for row in rows)
    what = (
        f"Arrows: here {first} is surely wrong (|y − p| ≥ {CONFIDENT:g})"
        if sure
        else f"{first} is nowhere surely wrong in these slices (|y − p| < {CONFIDENT:g})"
    )
    _set_headline(figure, what)
    return figure


@styled
def draw_whole(rows: Sequence[ComparedMaps]) -> Figure:
    """Draw whole slices; frames show what the zoomed figure shows."""
    windows = [whole(row.shown.label) for row in rows]
    figure, grid = _panels(rows, windows)
    for row, window, axes in zip(rows, windows, grid, strict=True):
        _draw_row(row, axes, window)
        if row.shown.window != window:
            for axis in axes:
                _draw_frame(axis, row.shown.window)
    _set_headline(figure, _whole_headline(rows))
    return figure


def map_title(name: MapName, between: str = "\n", longest: int = 26) -> str:
    """Return what stands above a map, the run's name in so many letters at most.

    >>> map_title(MapName("", "dice-surgery", "equilibrium"), ", ")
    'Dice surgery, corrected'
    >>> map_title(MapName("seed1", "dice", "temperature"), ", ")
    'Dice, seed1, temperature'
    """
    return _words(name, short(name.run, longest), between)


def _words(name: MapName, run: str, between: str = " ") -> str:
    how = {"none": "", "equilibrium": "corrected"}.get(name.correction, name.correction)
    return between.join(filter(None, (loss_title(name.loss), run, how)))


def _full_title(name: MapName) -> str:
    return _words(name, drawable(name.run))


def _set_headline(figure: Figure, text: str) -> None:
    inside = wrapped(text, figure.get_figwidth(), _HEADLINE)
    figure.suptitle(inside, fontsize=_HEADLINE, parse_math=False)


def _panels(
    rows: Sequence[ComparedMaps], windows: Sequence[Window]
) -> tuple[Figure, NDArray[object]]:  # type: ignore[type-var] # axes in an array
    names = list(rows[0].maps)
    columns = 2 + len(names)
    width = _width(rows[0])
    heights = [_tallness(row, w) for row, w in zip(rows, windows, strict=True)]
    figure = Figure(
        figsize=(width * columns + 0.65, width * sum(heights) + 0.06 * len(rows) + 0.5),
        layout="constrained",
    )
    figure.get_layout_engine().set(w_pad=0.02, h_pad=0.02, wspace=0.01, hspace=0.01)  # type: ignore[union-attr, call-arg] # of the constrained one
    grid = figure.subplots(len(rows), columns, squeeze=False, height_ratios=heights)
    room = letters(0.9 * width, _TITLE)  # panels give some of it to row names and the bar
    titles = ("image", "label", *(map_title(name, longest=room) for name in names))
    for axis, title in zip(grid[0], titles, strict=True):
        axis.set_title(title, fontsize=_TITLE, pad=3, parse_math=False)
    figure.colorbar(
        ScalarMappable(cmap=PROBABILITIES),
        ax=grid,
        shrink=0.75,
        pad=0.01,
        aspect=30,
        label="probability",
    )
    return figure, grid


def _width(row: ComparedMaps) -> float:
    """Return the inches of a panel."""
    return min(_MOST, max(_LEAST, _WIDTH / (2 + len(row.maps))))


def _tallness(row: ComparedMaps, window: Window) -> float:
    """Return the height of a panel, in widths."""
    return min(2.0, window.shape[0] * row.shown.cut.aspect / window.shape[1])


def _draw_row(row: ComparedMaps, axes: Sequence[Axes], window: Window) -> None:
    shown, aspect = row.shown, row.shown.cut.aspect
    draw_image(axes[0], shown.image, window, aspect)
    draw_map(axes[1], shown.label, window, aspect, "gray")
    for axis, p in zip(axes[2:], row.maps.values(), strict=True):
        draw_map(axis, p, window, aspect)
    room = letters(_width(row) * _tallness(row, window), _PLACE)
    names = (short(shown.case, room), short(shown.structure, room), shown.cut.title)
    axes[0].set_ylabel("\n".join(filter(None, names)), fontsize=_PLACE, parse_math=False)


def _draw_frame(axis: Axes, window: Window) -> None:
    rows, columns = window.shape
    corner = (window.left - 0.5, window.top - 0.5)
    axis.add_patch(Rectangle(corner, columns, rows, fill=False, ec=OUTLINE, lw=0.9))


def _whole_headline(rows: Sequence[ComparedMaps]) -> str:
    """Say how much of the maps is neither near 0 nor near 1, which is what one sees."""
    told = []
    for name in rows[0].maps:
        seen = np.concatenate([p[p > 0.05] for p in (row.maps[name] for row in rows)])
        share = f"{100 * (seen < 0.95).mean():.0f} %" if seen.size else "has none"
        told.append(f"{_full_title(name)} {share}")
    return f"Pixels with 0.05 < p < 0.95 among those with p > 0.05: {', '.join(told)}"
