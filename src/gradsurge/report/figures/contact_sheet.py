"""A contact sheet of a store: a slice of each of its cases, with the label's outline.

Of a volume the slice is the one across its coarsest axis that holds most of the sampled foreground;
no more than that slice is read.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.lines import Line2D
from numpy.typing import NDArray
from PIL import Image

from gradsurge.data.store import Store, StoredCase
from gradsurge.report.figures.outlines import draw_outlines
from gradsurge.report.style import FAINT, styled

Array = NDArray[np.float64]

MOST = 24
_COLUMNS = 6
_SIDE = 384  # pixels; larger images are shrunk, labels not: thin structures would break
_COLOURS = ("#00E5FF", "#FFB000", "#FF5DA2", "#7CFC00", "#B388FF", "#FF6D00")
_COLOUR_CHANNELS = ("red", "green", "blue")
_LONGEST = 26  # letters of a name


class Tile(NamedTuple):
    """One slice of a case.

    Attributes:
        name: of the case.
        facts: split, shape and foreground in words.
        image: grey (h, w) or colours (h, w, 3), in [0, 1]; shrunk if large.
        label: (H, W), on the same ground.
        aspect: height of a pixel over its width.
    """

    name: str
    facts: str
    image: Array
    label: NDArray[np.uint8]
    aspect: float


def compute(store: Store, names: Sequence[str], most: int = MOST) -> list[Tile]:
    """Read a slice of up to ``most`` of the cases, spread evenly over them."""
    chosen = [names[i * len(names) // most] for i in range(most)] if len(names) > most else names
    split_of = {case: split for split, cases in store.splits.items() for case in cases}
    colours = tuple(c.lower() for c in store.dataset.channel_names) == _COLOUR_CHANNELS
    return [_tile(store.case(name), split_of.get(name, "–"), colours) for name in chosen]


def _tile(case: StoredCase, split: str, colours: bool) -> Tile:
    box, axis = _slice(case)
    image, label = case.read_image(box)[: 3 if colours else 1], case.read_label(box)
    across, down = 1, 0
    if axis is not None:
        # RAS+ arrays count to the right, the front and the top: upright once turned.
        image, label = np.squeeze(image, axis + 1), np.squeeze(label, axis)
        image, label = np.rot90(image, axes=(1, 2)), np.rot90(label)
        across, down = (i for i in range(3) if i != axis)
    shape = " × ".join(map(str, case.shape))
    step = -(-max(label.shape) // _SIDE)
    return Tile(
        case.name,
        f"{split} · {shape} · {float(f'{100 * case.foreground:.2g}'):g} %",
        _picture(_shrunk(image.astype(np.float64), step)),
        label,
        case.spacing[down] / case.spacing[across],
    )


def _slice(case: StoredCase) -> tuple[list[tuple[int, int]], int | None]:
    """Return the box of the slice to show, and its axis; pictures are shown whole."""
    box = [(0, n) for n in case.shape]
    if len(box) == 2:
        return box, None
    coarsest = max(range(3), key=lambda i: (round(case.spacing[i], 3), i))
    at = case.shape[coarsest] // 2
    if case.locations:
        voxels = np.concatenate([v[:, coarsest] for v in case.locations.values()])
        at = int(np.bincount(voxels).argmax())
    box[coarsest] = (at, at + 1)
    return box, coarsest


def _shrunk(image: Array, step: int) -> Array:
    """Return (C, H, W) with every ``step`` x ``step`` pixels averaged."""
    if step == 1:
        return image
    size = (-(-image.shape[2] // step), -(-image.shape[1] // step))
    planes = (Image.fromarray(channel.astype(np.float32)) for channel in image)
    return np.stack([np.asarray(p.resize(size, Image.Resampling.BOX), np.float64) for p in planes])


def _picture(image: Array) -> Array:
    """Spread the middle 99 % of the intensities over [0, 1]."""
    low, high = np.percentile(image, (0.5, 99.5), axis=(1, 2), keepdims=True)
    shown = np.clip((image - low) / np.where(high > low, high - low, 1.0), 0.0, 1.0)
    return shown[0] if len(shown) == 1 else np.moveaxis(shown, 0, -1)


@styled
def draw(tiles: Sequence[Tile], label_names: dict[int, str], ignore: int | None) -> Figure:
    """Draw the tiles in rows, and a legend of the classes that occur."""
    columns = max(1, min(_COLUMNS, len(tiles)))
    rows = max(1, -(-len(tiles) // columns))
    figure = Figure(figsize=(1.75 * columns, 0.35 + 2.05 * rows), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes in grid.flat:
        axes.set_axis_off()
    found: set[int] = set()
    for axes, tile in zip(grid.flat, tiles, strict=False):
        found |= set(np.unique(tile.label).tolist())
        _draw_tile(axes, tile, ignore)
    handles = [
        Line2D([], [], color=_colour(n, ignore), label=label_names.get(n, "unknown"))
        for n in sorted(found - {0})
    ]
    if handles:
        figure.legend(handles=handles, loc="outside upper center", ncols=min(len(handles), 6))
    return figure


@styled
def write(store: Store, names: Sequence[str], file: Path) -> None:
    """Write the sheet of these cases of a store as a PNG, in all its colours."""
    facts = store.dataset
    figure = draw(compute(store, names), dict(facts.label_names), facts.ignore_label)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, format="png")


def _draw_tile(axes: Axes, tile: Tile, ignore: int | None) -> None:
    height, width = tile.label.shape
    axes.imshow(
        tile.image,
        cmap="gray",
        vmin=0,
        vmax=1,
        extent=(-0.5, width - 0.5, height - 0.5, -0.5),
        aspect=tile.aspect,
        interpolation="nearest",
    )
    thickness = 0.7 if max(height, width) <= _SIDE else 0.4
    draw_outlines(axes, tile.label, lambda number: _colour(number, ignore), thickness)
    name = tile.name if len(tile.name) <= _LONGEST else f"{tile.name[: _LONGEST - 1]}…"
    axes.set_title(f"{_plain(name)}\n{tile.facts}", fontsize=5.5, pad=2)


def _colour(number: int, ignore: int | None) -> str:
    return FAINT if number == ignore else _COLOURS[(number - 1) % len(_COLOURS)]


def _plain(text: str) -> str:
    """Keep a name from being read as a formula, and from letters the font lacks."""
    font = get_font(findfont(FontProperties()))
    known = (c if font.get_char_index(ord(c)) else "?" for c in text)
    return "".join(known).replace("$", r"\$")
