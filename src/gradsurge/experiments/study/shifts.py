"""Shifts of the distribution: a prepared image as a worse scanner would have made it.

Blur, noise, another contrast and lower resolution, each in five strengths. They act on the image as
the network sees it (z-scored), so that a strength means the same for every data set, and they hang
on the case's name and a seed alone: every model sees the same images.

Contrast changes by a gamma curve. Stretching all values alike, as a window does, is nothing to a
network that begins with an instance norm: its output stays the same to the last digit.
"""

import hashlib
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.grid import Grid
from gradsurge.data.preprocessing import image_onto_grid

Image = NDArray[np.float32]

STRENGTHS: dict[str, tuple[float, ...]] = {
    "blur": (0.5, 0.75, 1.0, 1.5, 2.0),
    "noise": (0.1, 0.2, 0.3, 0.5, 0.8),
    "contrast": (1.25, 1.5, 2.0, 3.0, 4.0),
    "resolution": (1.5, 2.0, 2.5, 3.0, 4.0),
}
"""Kind -> strengths, from weak to strong.

blur: deviation of the Gaussian, voxels. noise: deviation of what is added, in deviations of the
channel. contrast: exponent of the curve between the channel's lowest and highest value. resolution:
voxels along each axis that become one, by area, and are drawn out again linearly.
"""


def shifted(image: Image, kind: str, strength: float, case: str, seed: int = 0) -> Image:
    """Return a shifted copy of an image.

    Args:
        image: float32 (C, *S).
        kind: one of `STRENGTHS`.
        strength: how much, as `STRENGTHS` says.
        case: name of the case, for the noise; it is one pattern, whatever the strength.
        seed: another seed, other noise.

    Raises:
        ValueError: there is no such kind.

    >>> image = np.array([[[-1.0, 1.0], [0.0, 0.5]]], np.float32)
    >>> shifted(image, "contrast", 2.0, "a").tolist()
    [[[-1.0, 1.0], [-0.5, 0.125]]]
    """
    if kind not in _SHIFTS:
        raise ValueError(f"shift: unknown {kind!r}; known: {', '.join(_SHIFTS)}")
    return _SHIFTS[kind](image, strength, _draws(case, seed))


def _draws(case: str, seed: int) -> np.random.Generator:
    digest = hashlib.blake2b(f"{seed}/{case}".encode(), digest_size=16).digest()
    return np.random.default_rng(int.from_bytes(digest, "little"))


def _blur(image: Image, strength: float, _: np.random.Generator) -> Image:
    from scipy.ndimage import gaussian_filter

    axes = tuple(range(1, image.ndim))
    blurred: Image = gaussian_filter(image, strength, axes=axes, mode="nearest")
    return blurred


def _noise(image: Image, strength: float, draws: np.random.Generator) -> Image:
    pattern = draws.standard_normal(image.shape, np.float32)
    noisy: Image = image + np.float32(strength) * _deviations(image) * pattern
    return noisy


def _contrast(image: Image, strength: float, _: np.random.Generator) -> Image:
    axes = tuple(range(1, image.ndim))
    low, high = (
        find(axis=axes, keepdims=True).astype(np.float64) for find in (image.min, image.max)
    )
    width = np.where(high > low, high - low, 1.0)
    curved: Image = (low + width * ((image - low) / width) ** strength).astype(np.float32)
    return curved


def _resolution(image: Image, strength: float, _: np.random.Generator) -> Image:
    shape = image.shape[1:]
    coarse = tuple(max(1, round(n / strength)) for n in shape)
    small = image_onto_grid(image, _resizing(shape, coarse), "area")
    return image_onto_grid(small, _resizing(coarse, shape), "linear")


def _resizing(shape: tuple[int, ...], new: tuple[int, ...]) -> Grid:
    axes, ones = tuple(range(len(shape))), (1.0,) * len(shape)
    crop = tuple((0, n) for n in new)
    return Grid(shape, ones, None, axes, (False,) * len(shape), new, crop)


def _deviations(image: Image) -> Image:
    axes = tuple(range(1, image.ndim))
    found: Image = image.std(axis=axes, keepdims=True, dtype=np.float64).astype(np.float32)
    return found


_SHIFTS: dict[str, Callable[[Image, float, np.random.Generator], Image]] = {
    "blur": _blur,
    "noise": _noise,
    "contrast": _contrast,
    "resolution": _resolution,
}
