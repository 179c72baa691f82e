"""A validation case while training: image with the label, and what the model believes so far.

One picture a validation; in a row they show a model learn.
"""

import math
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gradsurge.experiments.runs.early_look import EarlyLook
from gradsurge.report.figures.fitted_text import short
from gradsurge.report.figures.outlines import draw_outlines
from gradsurge.report.style import save, styled

_COLOURS = ("#00E5FF", "#FFB000", "#FF5DA2", "#7CFC00")
_MOST = 4  # maps side by side


@styled
def draw(look: EarlyLook) -> Figure:
    """Draw the image with all outlines, then a probability map for each of the first classes."""
    maps = min(len(look.names), _MOST)
    height, width = look.image.shape
    tall = 2.3 * min(max(height * look.aspect / width, 0.5), 2.0)
    figure = Figure(figsize=(2.3 * (1 + maps) + 0.5, tall + 0.55), layout="constrained")
    axes = figure.subplots(1, 1 + maps, squeeze=False)[0]
    low, high = np.percentile(look.image, (0.5, 99.5))
    axes[0].imshow(
        look.image,
        cmap="gray",
        vmin=low,
        vmax=high if high > low else low + 1,
        aspect=look.aspect,
        interpolation="nearest",
    )
    axes[0].set_title("image and label", fontsize=8)
    for k in range(maps):
        colour = _COLOURS[k]
        draw_outlines(axes[0], look.labels[k].astype(np.uint8), lambda _, c=colour: c, 1.0)  # type: ignore[misc]
        shown = axes[1 + k].imshow(
            look.probabilities[k],
            cmap="cividis",
            vmin=0,
            vmax=1,
            aspect=look.aspect,
            interpolation="nearest",
        )
        draw_outlines(axes[1 + k], look.labels[k].astype(np.uint8), lambda _, c=colour: c, 1.0)  # type: ignore[misc]
        axes[1 + k].set_title(_title(look, k), fontsize=8, parse_math=False)
    for axis in axes:
        _bare(axis, height, width)
    figure.colorbar(shown, ax=axes[1:], shrink=0.8, pad=0.02, label="probability")
    figure.suptitle(f"{short(look.case, 24)}, step {look.step}", fontsize=9, parse_math=False)
    return figure


def write(look: EarlyLook, folder: Path) -> Path:
    """Draw a look into ``folder`` and return the file, step_000100.png."""
    (file,) = save(draw(look), folder, f"step_{look.step:06d}", ["png"])
    return file


def _title(look: EarlyLook, k: int) -> str:
    dice = look.dice[k]
    score = "not there" if math.isnan(dice) else f"Dice {100 * dice:.1f}"
    return f"{short(look.names[k], 24)}: {score}"


def _bare(axis: Axes, height: int, width: int) -> None:
    axis.set(xticks=[], yticks=[], xlim=(-0.5, width - 0.5), ylim=(height - 0.5, -0.5))
    axis.grid(visible=False)
    axis.spines[:].set_visible(False)
