"""Intensities: z-scores and Hounsfield windows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.preprocessing.cropping import bounding_box

# nnU-Net's: an image without contrast becomes zeros, not noise.
_LEAST_DEVIATION = 1e-8


def z_score(image: NDArray[Any], inside: NDArray[np.bool_] | None = None) -> NDArray[np.float32]:
    """Return (C, *S), each channel less its mean and over its standard deviation.

    Args:
        image: (C, *S).
        inside: (*S), where mean and deviation are taken; all else becomes 0, as nnU-Net has it
            for skulls that were removed. None for everywhere.
    """
    if inside is not None and not inside.any():
        return np.zeros(image.shape, np.float32)
    scores = np.empty(image.shape, np.float32)
    for channel, score in zip(image, scores, strict=True):
        values = channel if inside is None else channel[inside]
        mean = values.mean(dtype=np.float64)
        deviation = max(values.std(dtype=np.float64), _LEAST_DEVIATION)
        score[...] = (channel - mean) / deviation
    return scores if inside is None else scores * inside


def window(
    image: NDArray[Any], low: float, high: float, mean: float = 0.0, deviation: float = 1.0
) -> NDArray[np.float32]:
    """Return the image cut off below and above, less a mean and over a deviation.

    >>> window(np.array([-1000.0, 50.0, 900.0]), -50.0, 250.0, 100.0, 50.0).tolist()
    [-3.0, -1.0, 3.0]
    """
    cut = np.clip(image, low, high).astype(np.float32, copy=False)
    scaled: NDArray[np.float32] = (cut - np.float32(mean)) / np.float32(
        max(deviation, _LEAST_DEVIATION)
    )
    return scaled


def nonzero_region(image: NDArray[Any]) -> NDArray[np.bool_]:
    """Return (*S), where any channel of (C, *S) is not 0, holes filled: the brain of a brain scan.

    >>> nonzero_region(np.array([[[1, 1, 1, 0], [1, 0, 1, 0], [1, 1, 1, 0]]]))[1].tolist()
    [True, True, True, False]
    """
    from scipy import ndimage

    region: NDArray[np.bool_] = (image != 0).any(axis=0)
    box = bounding_box(region)
    if box is not None:  # holes lie inside the box: there is no need to look farther
        part = tuple(slice(*span) for span in box)
        region[part] = ndimage.binary_fill_holes(region[part])
    return region
