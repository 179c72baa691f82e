"""Augmented patches: a row a case, the patch as it is and then augmented again and again.

Every panel shows the label's outline, so that one sees whether it moved with the image. Patches of
volumes are shown at their middle slice across the thinnest side.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from gradsurge.data.augmentation import Arrays, Augmentation, make_augmentation
from gradsurge.data.patches import cut_patch, foreground_start
from gradsurge.data.store import StoredCase
from gradsurge.report.figures.outlines import draw_outlines
from gradsurge.report.style import styled

Array = NDArray[np.float64]

_COLOURS = ("#00E5FF", "#FFB000", "#FF5DA2", "#7CFC00", "#B388FF", "#FF6D00")
_LONGEST = 26  # letters of a name


class Tile(NamedTuple):
    """One slice of a patch.

    Attributes:
        image: the first channel (H, W).
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
    cases: Sequence[StoredCase], augmentation: Augmentation, number: int = 6, seed: int = 0
) -> list[Row]:
    """Cut a patch about the foreground of each case, once as it is and ``number`` times augmented.

    Args:
        cases: of a store.
        augmentation: tells the size of the patches too.
        number: augmented patches a case.
        seed: of the places and the augmentation.
    """
    if number < 1:
        raise ValueError(f"number: expected at least 1, got {number}")
    return [_row(case, augmentation, number, seed + i) for i, case in enumerate(cases)]


def _row(case: StoredCase, augmentation: Augmentation, number: int, seed: int) -> Row:
    rng = np.random.default_rng(seed)
    start = foreground_start(case.shape, augmentation.size, case.locations, rng)
    plain = cut_patch(case, start, make_augmentation("none", augmentation.size), rng)
    patches = [plain, *(cut_patch(case, start, augmentation, rng) for _ in range(number))]
    return Row(case.name, [_tile(patch, case.spacing) for patch in patches])


def _tile(patch: Arrays, spacing: Sequence[float]) -> Tile:
    image, label = patch.image[0].numpy().astype(np.float64), patch.label.numpy()
    down, across = 0, 1
    if label.ndim == 3:
        thin = min((2, 1, 0), key=lambda axis: label.shape[axis])
        at = label.shape[thin] // 2
        # RAS+ arrays count to the right, the front and the top: upright once turned.
        image, label = (np.rot90(a.take(at, thin)) for a in (image, label))
        across, down = (axis for axis in range(3) if axis != thin)
    return Tile(image, label, spacing[down] / spacing[across])


@styled
def draw(rows: Sequence[Row]) -> Figure:
    """Draw a row a case; the greys of a row are those of its first patch."""
    columns = len(rows[0].tiles)
    figure = Figure(figsize=(1.45 * columns, 0.25 + 1.5 * len(rows)), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.02, h_pad=0.02, wspace=0.01, hspace=0.01)  # type: ignore[union-attr, call-arg] # of the constrained one
    grid = figure.subplots(len(rows), columns, squeeze=False)
    for row, axes in zip(rows, grid, strict=True):
        low, high = np.percentile(row.tiles[0].image, (0.5, 99.5))
        for axis, tile in zip(axes, row.tiles, strict=True):
            _draw_tile(axis, tile, float(low), float(high))
        axes[0].set_ylabel(_short(row.name), fontsize=6, parse_math=False)
    grid[0, 0].set_title("as it is", fontsize=8, pad=3)
    for index, axis in enumerate(grid[0, 1:], start=1):
        axis.set_title(f"augmented {index}", fontsize=8, pad=3)
    return figure


def _draw_tile(axis: Axes, tile: Tile, low: float, high: float) -> None:
    height, width = tile.label.shape
    axis.imshow(
        tile.image,
        cmap="gray",
        vmin=low,
        vmax=high if high > low else low + 1,
        aspect=tile.aspect,
        interpolation="nearest",
    )
    draw_outlines(axis, tile.label, lambda n: _COLOURS[(n - 1) % len(_COLOURS)], 0.8)
    axis.set(xticks=[], yticks=[], xlim=(-0.5, width - 0.5), ylim=(height - 0.5, -0.5))
    axis.grid(visible=False)
    axis.spines[:].set_visible(False)


def _short(name: str) -> str:
    """Keep a name to a row's height, and to letters that every font has."""
    plain = name.encode("ascii", "replace").decode()
    return plain if len(plain) <= _LONGEST else f"{plain[: _LONGEST - 3]}..."
