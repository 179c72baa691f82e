"""Appendix B of the paper: the fields of all losses on two voxels of a 100-voxel example.

Two foreground voxels with p = 0.8 and 98 background voxels with p = 0.1 stay as they are. Two more,
one of foreground (y₁ = 1) and one of background (y₂ = 0; the paper has "y₂ = 2", a slip), take
every pair of probabilities. The arrows are minus the field on their logits, by autograd through
`make_loss`; the axes show probabilities.
"""

from typing import Any, NamedTuple

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.contour import ContourSet
from matplotlib.figure import Figure
from numpy.typing import NDArray

from gradsurge.experiments.probe import SMALL, probe_field
from gradsurge.losses import make_loss
from gradsurge.report.style import INK, styled

Array = NDArray[np.float64]

PANELS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "ce": ("cross-entropy", "ce", {}),
    "dice": ("Dice", "dice", {}),
    "tversky": ("Tversky, a = 0.3", "tversky", {"a": 0.3}),
    "ce+dice": ("CE + Dice", "ce+dice", {}),
    "dice++": ("Dice++, γ = 2", "dice++", {}),
    "dice-surgery": ("Dice surgery", "dice-surgery", {}),
    "tversky-surgery": ("Tversky surgery, a = 0.3", "tversky-surgery", {"a": 0.3}),
    "ce+dice-surgery": ("CE + Dice surgery", "ce+dice-surgery", {}),
}
# Light enough throughout for dark arrows on top.
_SHADES = LinearSegmentedColormap.from_list("shades", ["#FFFFFF", "#F6C667", "#E8843C"])
_STRIDE = 4  # an arrow at every fourth point of the grid


class VectorFields(NamedTuple):
    """Descent directions on a grid.

    ``p`` (M,) are the values of both probabilities; ``descent[name]`` (M, M, 2) is minus the field,
    first axis p₂ (background voxel), second p₁ (foreground voxel), then the component on z₁, z₂.
    """

    p: Array
    descent: dict[str, Array]


def compute(points: int = 49) -> VectorFields:
    """Return the field of each loss in PANELS."""
    p = torch.linspace(0.02, 0.98, points, dtype=torch.float64)
    second, first = torch.meshgrid(p, p, indexing="ij")
    pairs = torch.stack((first, second), dim=-1).view(-1, 2)
    descent = {}
    for key, (_, name, options) in PANELS.items():
        field = probe_field(make_loss(name, paper=True, **options), SMALL, pairs, (1, 0))
        descent[key] = -field.view(points, points, 2).numpy()
    return VectorFields(p.numpy(), descent)


def numbers(data: VectorFields) -> dict[str, float]:
    """Return what is left of each field's largest magnitude where both voxels are surely wrong."""
    found = {}
    for name, arrows in data.descent.items():
        magnitude = np.linalg.norm(arrows, axis=-1)
        found[f"{name}: share of the largest magnitude at p1 = 0.02, p2 = 0.98"] = float(
            magnitude[-1, 0] / magnitude.max()
        )
    return found


@styled
def draw(data: VectorFields) -> Figure:
    """Draw one panel a loss: arrows over relative magnitude."""
    figure = Figure(figsize=(7.4, 3.8), layout="constrained")
    panels = figure.subplots(2, 4, sharex=True, sharey=True)
    shades = []
    for (key, arrows), axis in zip(data.descent.items(), panels.flat, strict=True):
        shades.append(_draw_panel(axis, data.p, arrows))
        axis.set_title(PANELS[key][0], fontsize=8)
    for axis in panels[-1]:
        axis.set_xlabel("p₁  (y₁ = 1)")
    for axis in panels[:, 0]:
        axis.set_ylabel("p₂  (y₂ = 0)")
    bar = figure.colorbar(shades[0], ax=panels, aspect=30, ticks=[0, 0.5, 1])
    bar.set_label("magnitude, share of the panel's largest")
    return figure


def _draw_panel(axis: Axes, p: Array, arrows: Array) -> ContourSet:
    magnitude = np.linalg.norm(arrows, axis=-1)
    relative = magnitude / magnitude.max()
    shades = axis.contourf(p, p, relative, levels=np.linspace(0, 1, 13), cmap=_SHADES)
    few = slice(_STRIDE // 2, None, _STRIDE)
    # Length grows with the square root: proportional arrows would leave half the panel empty.
    unit = arrows / magnitude[..., None] * np.sqrt(relative)[..., None]
    axis.quiver(
        p[few],
        p[few],
        unit[few, few, 0],
        unit[few, few, 1],
        color=INK,
        scale=12,
        width=0.007,
        headwidth=4,
        pivot="mid",
    )
    axis.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])
    axis.grid(visible=False)
    return shades
