"""Appendix F of the paper: the shape of each loss's derivative on the logit, its maximum set to 1.

The same pair of voxels in the same image as `gradsurge.report.figures.partials`, computed by
autograd through the losses.
"""

from typing import NamedTuple

import matplotlib as mpl
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from gradsurge.experiments.probe import LARGE, probe_field
from gradsurge.losses import make_loss
from gradsurge.report.style import BACKGROUND, INK, OTHER, OURS, styled

Array = NDArray[np.float64]

DECLINES: tuple[float | None, ...] = (None, 100.0, 20.0, 5.0, 2.0, 1.0)
_LOSSES = {
    "ce": ("cross-entropy", INK, "-"),
    "dice": ("Dice", BACKGROUND, (0, (4, 1.6))),
    "dice++": ("Dice++, γ = 2", OTHER, (0, (6, 1.5, 1.2, 1.5))),
    "dice-surgery, n = 20": ("Dice surgery, n = 20", OURS, "-"),
}


class NormalisedPartials(NamedTuple):
    """Curves (M, 2) by name: a foreground and a background voxel's, each with maximum 1."""

    p: Array
    curves: dict[str, Array]


def compute(points: int = 401) -> NormalisedPartials:
    """Return the curves of cross-entropy, Dice, Dice++, and Dice surgery for each of DECLINES."""
    p = torch.linspace(0, 1, points, dtype=torch.float64).clamp(1e-6, 1 - 1e-6)
    pair = p.unsqueeze(1).expand(-1, 2)
    losses = {name: make_loss(name) for name in ("ce", "dice", "dice++")}
    losses |= {_surgery(n): make_loss("dice-surgery", paper=True, decline=n) for n in DECLINES}
    curves = {}
    for name, loss in losses.items():
        field = probe_field(loss, LARGE, pair, (1, 0)).abs()
        curves[name] = (field / field.amax(dim=0)).numpy()
    return NormalisedPartials(p.numpy(), curves)


def numbers(data: NormalisedPartials) -> dict[str, float]:
    """Return the probability at which each loss pulls hardest on a foreground voxel."""
    return {
        f"{name}: p of the hardest pull on foreground": round(data.p[curve[:, 0].argmax()], 4)
        for name, curve in data.curves.items()
    }


def _surgery(decline: float | None) -> str:
    return f"dice-surgery, n = {'none' if decline is None else format(decline, 'g')}"


@styled
def draw(data: NormalisedPartials) -> Figure:
    """Draw losses in the left column and decline exponents in the right one."""
    figure = Figure(figsize=(7.2, 4.8), layout="constrained")
    panels = figure.subplots(2, 2, sharex=True, sharey=True)
    for row, label in enumerate(("foreground voxel, y = 1", "background voxel, y = 0")):
        _draw_losses(panels[row, 0], data, row)
        _draw_declines(panels[row, 1], data, row)
        panels[row, 0].set_ylabel(f"{label}\n|field on z|, maximum 1")
    panels[0, 0].set(xlim=(0, 1), ylim=(0, 1.04))
    for column, title in enumerate(("losses", "Dice surgery, decline exponent n")):
        panels[1, column].set_xlabel("predicted probability p")
        panels[0, column].legend(
            loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2 + column, title=title
        )
    return figure


def _draw_losses(axis: Axes, data: NormalisedPartials, label: int) -> None:
    for name, (title, colour, line) in _LOSSES.items():
        axis.plot(data.p, data.curves[name][:, label], color=colour, ls=line, label=title)


def _draw_declines(axis: Axes, data: NormalisedPartials, label: int) -> None:
    shades = mpl.colormaps["cividis"](np.linspace(0.0, 0.85, len(DECLINES)))
    for decline, shade in zip(DECLINES, shades, strict=True):
        curve = data.curves[_surgery(decline)][:, label]
        title = "no decline" if decline is None else f"n = {decline:g}"
        width = 2.6 if decline == 20 else 1.4
        line = (0, (4, 1.6)) if decline in (2, 100) else "-"
        axis.plot(data.p, curve, color=shade, lw=width, ls=line, label=title)
