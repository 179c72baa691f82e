"""Augmented patches: a row a case, the patch as it is and then augmented again and again.

Every panel shows the label's outline, so that one sees whether it moved with the image. Patches of
volumes are shown at their middle slice across the thinnest side.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from gradsurge.data.augmentation import Arrays, Augmentation, make_augmentation
from gradsurge.data.patches import cut_patch, foreground_start
from gradsurge.data.store import StoredCase
from gradsurge.report.figures.fitted_text import short
from gradsurge.report.figures.outlines import draw_outlines
from gradsurge.report.style import styled

Array = NDArray[np.float64]

_COLOURS = ("#00E5FF", "#FFB000", "#FF5DA2", "#7CFC00", "#B388FF", "#FF6D00")
_COARSE = 128  # pixels along a side; finer ones have thin structures, and get thin outlines
_WIDTH = 1.45  # inches of a tile


class Tile(NamedTuple):
    """One slice of a patch.

    Attributes:
        image: the first channel (H, W), or colours (H, W, 3).
        label: (H, W).
        aspect: height of a pixel over its width.
    """

    image: Array
    label: NDArray[np.uint8]
    aspect: float


class Row(NamedTuple):
    """A patch as it is, then augmented.

    Attributes:
        name: of its case.
        tiles: the first one is not augmented.
    """

    name: str
    tiles: list[Tile]


def compute(
    cases: Sequence[StoredCase],
    augmentation: Augmentation,
    number: int = 6,
    seed: int = 0,
    channels: int = 1,
) -> list[Row]:
    """Cut a patch about the foreground of each case, once as it is and ``number`` times augmented.

    Args:
        cases: of a store.
        augmentation: tells the size of the patches too.
        number: augmented patches a case.
        seed: of the places and the augmentation.
        channels: 1 shows the first, 3 shows red, green and blue.
    """
    if number < 1:
        raise ValueError(f"number: expected at least 1, got {number}")
    return [_row(case, augmentation, number, seed + i, channels) for i, case in enumerate(cases)]


def _row(
    case: StoredCase, augmentation: Augmentation, number: int, seed: int, channels: int
) -> Row:
    rng = np.random.default_rng(seed)
    start = foreground_start(case.shape, augmentation.size, case.locations, rng)
    plain = cut_patch(case, start, make_augmentation("none", augmentation.size), rng)
    patches = [plain, *(cut_patch(case, start, augmentation, rng) for _ in range(number))]
    return Row(case.name, [_tile(patch, case.spacing, channels) for patch in patches])


def _tile(patch: Arrays, spacing: Sequence[float], channels: int) -> Tile:
    image, label = patch.image[:channels].numpy().astype(np.float64), patch.label.numpy()
    down, across = 0, 1
    if label.ndim == 3:
        thin = min((2, 1, 0), key=lambda axis: label.shape[axis])
        at = label.shape[thin] // 2
        # RAS+ arrays count to the right, the front and the top: upright once turned.
        image, label = (
            np.rot90(image.take(at, thin + 1), axes=(1, 2)),
            np.rot90(label.take(at, thin)),
        )
        across, down = (axis for axis in range(3) if axis != thin)
    shown = image[0] if channels == 1 else np.moveaxis(image, 0, -1)
    return Tile(shown, label, spacing[down] / spacing[across])


@styled
def draw(rows: Sequence[Row], label_names: Mapping[int, str] | None = None) -> Figure:
    """Draw a row a case; the greys, or colours, of a row are those of its first patch.

    Args:
        rows: from `compute`.
        label_names: class number -> name, for a legend.
    """
    columns = len(rows[0].tiles)
    heights = [_WIDTH * min(2.0, _height(row.tiles[0])) for row in rows]
    names = {} if label_names is None else label_names
    figure = Figure(
        figsize=(_WIDTH * columns, 0.3 + sum(heights) + 0.3 * bool(names)), layout="constrained"
    )
    figure.get_layout_engine().set(w_pad=0.02, h_pad=0.02, wspace=0.01, hspace=0.01)  # type: ignore[union-attr, call-arg] # of the constrained one
    grid = figure.subplots(len(rows), columns, squeeze=False, height_ratios=heights)
    for row, axes in zip(rows, grid, strict=True):
        low, high = np.percentile(row.tiles[0].image, (0.5, 99.5), axis=(0, 1))
        for axis, tile in zip(axes, row.tiles, strict=True):
            _draw_tile(axis, tile, low, high)
        axes[0].set_ylabel(short(row.name), fontsize=6, parse_math=False)
    grid[0, 0].set_title("as it is", fontsize=8, pad=3)
    for index, axis in enumerate(grid[0, 1:], start=1):
        axis.set_title(f"augmented {index}", fontsize=8, pad=3)
    _add_legend(figure, rows, names)
    return figure


def _height(tile: Tile) -> float:
    """Return the height of a tile over its width, as drawn."""
    height, width = tile.label.shape
    return float(tile.aspect * height / width)


def _add_legend(figure: Figure, rows: Sequence[Row], names: Mapping[int, str]) -> None:
    found = {int(n) for row in rows for tile in row.tiles for n in np.unique(tile.label)}
    handles = [
        Line2D([], [], color=_colour(number), label=short(names[number]))
        for number in sorted(found & names.keys() - {0})
    ]
    if handles:
        figure.legend(handles=handles, loc="outside lower center", ncols=min(len(handles), 6))


def _draw_tile(axis: Axes, tile: Tile, low: Array, high: Array) -> None:
    height, width = tile.label.shape
    axis.imshow(
        np.clip((tile.image - low) / np.where(high > low, high - low, 1.0), 0.0, 1.0),
        cmap="gray",
        vmin=0.0,
        vmax=1.0,
        aspect=tile.aspect,
        interpolation="nearest",
    )
    draw_outlines(axis, tile.label, _colour, 0.8 if max(height, width) <= _COARSE else 0.4)
    axis.set(xticks=[], yticks=[], xlim=(-0.5, width - 0.5), ylim=(height - 0.5, -0.5))
    axis.grid(visible=False)
    axis.spines[:].set_visible(False)


def _colour(number: int) -> str:
    return _COLOURS[(number - 1) % len(_COLOURS)]
