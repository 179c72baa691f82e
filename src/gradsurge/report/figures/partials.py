"""Figure 1 of the paper: what one voxel feels, as a function of its probability.

Rows: Dice, cross-entropy, Dice with surgery. Columns: dL/dp, the derivative of the activation (or
what surgery puts in its place), and their product, which is what reaches the network. Everything is
autograd through the package's losses, on a foreground and a background voxel that share one
probability p inside an image of 2000 others (`gradsurge.experiments.probe.LARGE`).
"""

from typing import NamedTuple

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from torch import Tensor

from gradsurge.experiments.probe import LARGE, probe_field
from gradsurge.losses import make_loss
from gradsurge.report.style import BACKGROUND, FOREGROUND, MEETING, styled
from gradsurge.surgery import surgery_sigmoid

Array = NDArray[np.float64]

ROWS = {"dice": "Dice", "ce": "cross-entropy", "dice-surgery": "Dice surgery"}
LABELS = (1, 0)
_TOP_OF_CE = 10.0  # dL/dp of cross-entropy is 1 / p: the axis has to end somewhere


class Partials(NamedTuple):
    """Magnitudes at each p (M,), for a foreground and a background voxel, (M, 2).

    ``field`` is ``slope`` times ``activation``. Slope and field are given times the number of
    voxels. ``meetings`` are the p at which the two fields are equal and opposite.
    """

    p: Array
    slope: Array
    activation: Array
    field: Array
    meetings: Array


def compute(points: int = 201) -> dict[str, Partials]:
    """Return the curves of each loss in ROWS."""
    p = torch.linspace(0, 1, points, dtype=torch.float64).clamp(1e-6, 1 - 1e-6)
    pair = p.unsqueeze(1).expand(-1, 2)
    return {name: _partials(name, pair) for name in ROWS}


def numbers(data: dict[str, Partials]) -> dict[str, float]:
    """Return where cross-entropy's and the surgery's pulls balance."""
    return {
        f"{name}: p where the pulls balance": float(data[name].meetings[0])
        for name in ("ce", "dice-surgery")
    }


def _partials(name: str, pair: Tensor) -> Partials:
    field = probe_field(make_loss(name, paper=True), LARGE, pair, LABELS)
    field = field * (LARGE.voxels + len(LABELS))
    activation = _activation_slope(pair, operated=name.endswith("surgery"))
    p, f, a = pair[:, 0].numpy(), field.abs().numpy(), activation.numpy()
    return Partials(p, f / a, a, f, meetings(p, f[:, 0], f[:, 1]))


def _activation_slope(p: Tensor, *, operated: bool) -> Tensor:
    """Return dp/dz, or what the surgery's backward pass uses instead, (M, 2)."""
    z = p.logit().T.unsqueeze(0).requires_grad_()  # one channel a voxel
    labels = torch.tensor(LABELS, dtype=p.dtype).view(1, 2, 1).expand_as(z)
    out = surgery_sigmoid(z, labels, 20.0, 0.25, normalise=False) if operated else z.sigmoid()
    (slope,) = torch.autograd.grad(out.sum(), z)
    return slope[0].T


def meetings(p: Array, foreground: Array, background: Array) -> Array:
    """Return the p at which two curves cross; if they never do, both ends, where both vanish."""
    gap = foreground - background
    left = np.flatnonzero(np.sign(gap[:-1]) * np.sign(gap[1:]) < 0)
    share = gap[left] / (gap[left] - gap[left + 1])
    touching = p[gap == 0.0]
    found = np.concatenate((p[left] + share * (p[left + 1] - p[left]), touching))
    return np.sort(found) if found.size else np.array([0.0, 1.0])


@styled
def draw(data: dict[str, Partials]) -> Figure:
    """Draw three rows and three columns."""
    figure = Figure(figsize=(7.2, 6.4), layout="constrained")
    rows = figure.subplots(len(data), 3, sharex=True)
    for (name, partials), axes in zip(data.items(), rows, strict=True):
        _draw_row(axes, name, partials)
    for axis in rows[-1]:
        axis.set_xlabel("predicted probability p")
    lines, labels = rows[0, 0].get_legend_handles_labels()
    (square,) = [line for line in rows[0, 2].lines if line.get_marker() == "s"]
    figure.legend(
        [*lines, square],
        [*labels, "equal and opposite: a pair comes to rest"],
        loc="outside upper center",
        ncols=3,
    )
    return figure


def _draw_row(axes: NDArray[np.object_], name: str, partials: Partials) -> None:
    operated = name.endswith("surgery")
    _draw_pair(axes[0], partials.p, partials.slope)
    _draw_pair(axes[1], partials.p, partials.activation)
    _draw_pair(axes[2], partials.p, partials.field)
    at_meeting = np.interp(partials.meetings, partials.p, partials.field[:, 0])
    axes[2].plot(partials.meetings, at_meeting, "s", color=MEETING, ms=6, clip_on=False, zorder=5)
    top = min(1.15 * float(partials.slope.max()), _TOP_OF_CE)
    axes[0].set_ylim(0, top)
    axes[0].set_ylabel(ROWS[name], fontweight="bold", fontsize=9.5)
    axes[0].set_title("|∂L/∂p| × voxels")
    axes[1].set_title("in place of ∂p/∂z: 0.25 e · decline" if operated else "∂p/∂z")
    axes[2].set_title("|field on z| × voxels" if operated else "|∂L/∂z| × voxels")
    for axis in axes[1:]:
        axis.set_ylim(bottom=0)
    axes[0].set_xlim(0, 1)


def _draw_pair(axis: Axes, p: Array, curves: Array) -> None:
    axis.plot(p, curves[:, 0], color=FOREGROUND, label="foreground voxel, y = 1")
    axis.plot(p, curves[:, 1], color=BACKGROUND, ls=(0, (4, 1.6)), label="background voxel, y = 0")
