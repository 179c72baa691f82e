"""One slice of a case in four pictures: image, label, probability, error.

Pictures, not a figure: each is placed by the page, beside or below the others, and pixels stay
pixels. They are stretched to the slice's true proportions, so that a browser need not be told.
"""

from io import BytesIO
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gradsurge.experiments.evaluation.result import CaseLook

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

PROBABILITY_COLOURS = "cividis"
ERROR_COLOURS = "inferno"
_IMAGE_COLOURS = "gray"
_LEVELS = 64  # colours of a map; more only cost bytes
_OUTLINE = (0, 229, 255)  # the label's border: a colour of none of the maps


class Pictures(NamedTuple):
    """PNG files; ``image`` is None without one."""

    image: bytes | None
    label: bytes
    probability: bytes
    error: bytes


class Panels(NamedTuple):
    """Values in [0, 1] at the size of the pictures, and the border of the label."""

    image: Array | None
    label: Array
    probability: Array
    error: Array
    outline: Flags


def compute(look: CaseLook, side: int = 320) -> Panels:
    """Bring a slice to true proportions, its longer side to about ``side`` pixels."""
    size = _size(look.label.shape, look.aspect, side)
    label = _resized(look.label.astype(np.float64), size)
    return Panels(
        image=None if look.image is None else _resized(_grey(look.image), size),
        label=label,
        probability=_resized(_in_range(look.probability), size),
        error=_resized(_in_range(look.error), size),
        outline=_border(label > 0.5),
    )


def draw(panels: Panels) -> Pictures:
    """Colour the panels; the label's border is drawn on all but the label."""
    image = panels.image
    return Pictures(
        image=None if image is None else _png(image, _IMAGE_COLOURS, panels.outline),
        label=_png(panels.label, _IMAGE_COLOURS, np.zeros_like(panels.outline)),
        probability=_png(panels.probability, PROBABILITY_COLOURS, panels.outline),
        error=_png(panels.error, ERROR_COLOURS, panels.outline),
    )


def colour_bar(colours: str) -> bytes:
    """Return a colour map from 0 to 1 as a PNG of one line."""
    line = np.linspace(0, 1, 4 * _LEVELS)[None]
    return _png(line, colours, np.zeros(line.shape, np.bool_))


def _size(shape: tuple[int, ...], aspect: float, side: int) -> tuple[int, int]:
    """Return (width, height) of the picture; small slices grow by whole numbers at equal sides."""
    if not (np.isfinite(aspect) and aspect > 0):
        raise ValueError(f"aspect: expected a number above 0, got {aspect}")
    height, width = float(shape[0]) * max(aspect, 1.0), float(shape[1]) / min(aspect, 1.0)
    factor = side / max(height, width)
    if factor > 1:
        factor = float(np.floor(factor))
    return max(round(width * factor), 1), max(round(height * factor), 1)


def _resized(plane: Array, size: tuple[int, int]) -> Array:
    """Repeat pixels to grow; average them to shrink."""
    smaller = plane.shape[1] > size[0] or plane.shape[0] > size[1]
    how = Image.Resampling.BOX if smaller else Image.Resampling.NEAREST
    picture = Image.fromarray(plane.astype(np.float32)).resize(size, how)
    return np.asarray(picture, np.float64)


def _grey(image: NDArray[np.float32]) -> Array:
    """Spread the middle 98 % of the intensities over the greys."""
    finite = image[np.isfinite(image)]
    low, high = np.percentile(finite, (1, 99)) if finite.size else (0.0, 1.0)
    return _in_range((image - low) / (high - low if high > low else 1.0))


def _in_range(values: NDArray[np.floating]) -> Array:
    return np.clip(np.nan_to_num(values.astype(np.float64)), 0.0, 1.0)


def _border(mask: Flags) -> Flags:
    """Return the pixels of a mask with a neighbour outside of it."""
    padded = np.pad(mask, 1)
    inner = padded[:-2, 1:-1] & padded[2:, 1:-1] & padded[1:-1, :-2] & padded[1:-1, 2:]
    return mask & ~inner


def _png(values: Array, colours: str, outline: Flags) -> bytes:
    """Write a palette: the map's levels, and the outline's colour behind them."""
    index = np.round(values * (_LEVELS - 1)).astype(np.uint8)
    index[outline] = _LEVELS
    shades = mpl.colormaps[colours](np.linspace(0, 1, _LEVELS), bytes=True)[:, :3]
    picture = Image.fromarray(index)
    picture.putpalette([*shades.ravel().tolist(), *_OUTLINE], "RGB")
    file = BytesIO()
    picture.save(file, "PNG", optimize=True)
    return file.getvalue()
