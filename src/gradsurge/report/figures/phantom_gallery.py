"""Cases of the phantoms, a row each: image, true posterior, and the label's outline on the image.

The cases are arguments, so that the figure can show those of a store as well. Volumes are shown
at the slice with most of the rarest class.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from numpy.typing import NDArray

from gradsurge.data.phantoms import PhantomCase
from gradsurge.report.style import FOREGROUND, OTHER, OURS, styled

Array = NDArray[np.float64]

PANELS = ("image", "posterior q", "label")
_HEAT = "inferno"
_STEPS = 10  # few enough colours for a palette to hold beside those of the images
_CLASS_COLOURS = ("#FFB000", "#56B4E9", OTHER, OURS, FOREGROUND)
_OUTLINE = "#00E5FF"  # of one class: a colour of neither the images nor the map


class View(NamedTuple):
    """One slice of a case.

    Attributes:
        image: grey or colour in [0, 1], (H, W, 3).
        posterior: (K, H, W).
        label: (H, W).
        aspect: height of a pixel over its width.
    """

    image: Array
    posterior: Array
    label: NDArray[np.uint8]
    aspect: float


def compute(cases: Mapping[str, Sequence[PhantomCase]]) -> dict[str, list[View]]:
    """Choose the slice of each case and bring its image to [0, 1]; the keys name the rows."""
    numbers = {len(row) for row in cases.values()}
    if len(numbers) != 1 or 0 in numbers:
        counts = ", ".join(f"{name} {len(row)}" for name, row in cases.items()) or "no rows"
        raise ValueError(f"cases: expected as many of each phantom, at least one, got {counts}")
    return {name: [_view(case) for case in row] for name, row in cases.items()}


def _view(case: PhantomCase) -> View:
    image, posterior, label = case.image, case.posterior, case.label
    if label.ndim == 3:
        at = int(posterior.sum(axis=(1, 2)).min(axis=0).argmax())
        image, posterior, label = image[..., at], posterior[..., at], label[..., at]
    return View(
        image=_picture(image.astype(np.float64)),
        posterior=posterior.astype(np.float64),
        label=label,
        aspect=case.spacing[0] / case.spacing[1],
    )


def _picture(image: Array) -> Array:
    """Return three channels as they are, cut to [0, 1]; spread the greys of one over it."""
    if len(image) != 3:
        low, high = np.percentile(image[0], (0.5, 99.7))
        grey = (image[:1] - low) / (high - low if high > low else 1.0)
        image = np.repeat(grey, 3, axis=0)
    return np.moveaxis(np.clip(image, 0.0, 1.0), 0, -1)


@styled
def draw(data: Mapping[str, Sequence[View]]) -> Figure:
    """Draw a row a phantom and three panels a case."""
    rows, number = len(data), len(next(iter(data.values())))
    figure = Figure(figsize=(0.3 + 3.25 * number, 0.75 + 1.12 * rows))
    outer = figure.add_gridspec(
        rows,
        number,
        left=0.3 / figure.get_figwidth(),
        right=0.997,
        top=1 - 0.22 / figure.get_figheight(),
        bottom=0.46 / figure.get_figheight(),
        wspace=0.03,
        hspace=0.03,
    )
    for row, (name, views) in enumerate(data.items()):
        for column, view in enumerate(views):
            inner = outer[row, column].subgridspec(1, len(PANELS), wspace=0.02)
            panels = [figure.add_subplot(inner[0, at]) for at in range(len(PANELS))]
            _draw_case(panels, view)
            if row == 0:
                for axis, title in zip(panels, PANELS, strict=True):
                    axis.set_title(title, fontsize=8, pad=3)
            if column == 0:
                panels[0].set_ylabel(name, fontsize=9)
    _draw_scales(figure, max(len(view.posterior) for row in data.values() for view in row))
    return figure


def _draw_case(panels: Sequence[Axes], view: View) -> None:
    for axis, picture in zip(
        panels, (view.image, posterior_colours(view.posterior), view.image), strict=True
    ):
        axis.imshow(picture, aspect=view.aspect, interpolation="nearest")
        axis.set(xticks=[], yticks=[])
        axis.grid(visible=False)
        axis.spines[:].set_visible(False)
    one = len(view.posterior) == 1
    for index in range(len(view.posterior)):
        mask = (view.label == index + 1).astype(np.float64)
        if mask.any() and not mask.all():
            colour = _OUTLINE if one else _CLASS_COLOURS[index]
            panels[2].contour(mask, levels=[0.5], colors=colour, linewidths=0.6)


def posterior_colours(posterior: Array) -> Array:
    """Return colours (H, W, 3) of a posterior (K, H, W) in steps of 0.1.

    One class is a heat map; several mix their colours on black.
    """
    steps = np.rint(posterior * _STEPS) / _STEPS
    if len(posterior) == 1:
        return np.asarray(mpl.colormaps[_HEAT](steps[0]))[..., :3]
    colours = np.array([to_rgb(colour) for colour in _CLASS_COLOURS[: len(posterior)]])
    mixed: Array = np.einsum("khw,kc->hwc", steps, colours)
    return mixed


def _draw_scales(figure: Figure, classes: int) -> None:
    """Draw the heat map's steps and, if some phantom has several classes, those of each."""
    width, height = figure.get_size_inches()
    values = np.linspace(0, 1, _STEPS + 1)
    scales = [("q of one class", posterior_colours(values[None, None]))]
    for index in range(classes if classes > 1 else 0):
        posterior = np.zeros((classes, 1, len(values)))
        posterior[index] = values
        scales.append((f"q of class {index + 1}", posterior_colours(posterior)))
    for number, (title, colours) in enumerate(scales):
        left = (0.3 + 2.8 * number) / width
        axis = figure.add_axes((left, 0.24 / height, 1.7 / width, 0.12 / height))
        axis.imshow(colours, aspect="auto", extent=(-0.05, 1.05, 0, 1))
        axis.set(xticks=[0, 0.5, 1], yticks=[])
        axis.grid(visible=False)
        axis.text(1.04, 0.5, title, transform=axis.transAxes, va="center", fontsize=8)
