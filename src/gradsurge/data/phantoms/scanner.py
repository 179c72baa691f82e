"""The scanner: shows a scene through blur, unknown gain, shading, contrast and noise."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from gradsurge.data.phantoms.draws import Draws
from gradsurge.data.phantoms.fields import tissue_field
from gradsurge.data.phantoms.grid import Grid

Array = NDArray[np.float64]

_BLUR = 0.6  # sigma of the point spread, in voxels
_GAIN = 0.15  # by how much the contrast of structures varies within a case
_SHADING = 0.06


class Scene(NamedTuple):
    """What there is to see.

    Attributes:
        posterior: probability of each foreground class, (K, *S).
        background: tissue without the structures, (C, *S), about 0 to 1.
        signal: what structures and distractors add to it, (C, *S).
    """

    posterior: Array
    background: Array
    signal: Array


def scan(scene: Scene, grid: Grid, noise: tuple[float, float], draws: Draws) -> Array:
    """Return the image (C, *S).

    image = brightness + contrast · shading · (background + gain · blur(signal)) + noise

    Args:
        scene: what is scanned.
        grid: its voxels.
        noise: lowest and highest standard deviation, drawn for each case.
        draws: the scanner's random numbers.
    """
    spread = float(np.mean(grid.extent))
    gain = 1 + _GAIN * np.clip(tissue_field(draws, grid, 0.06 * spread), -2, 2)
    shading = 1 + _SHADING * np.clip(tissue_field(draws, grid, 0.25 * spread), -2, 2)
    contrast, brightness = draws.between(0.8, 1.2), draws.between(-0.05, 0.05)
    level = draws.between(*noise)
    image = np.empty_like(scene.background)
    for channel, (tissue, signal) in enumerate(zip(scene.background, scene.signal, strict=True)):
        seen = tissue + gain * gaussian_filter(signal, _BLUR)
        grain = draws.normals(*grid.size)
        # Half of the noise's variance spreads over neighbours: averaging does not remove it.
        mottle = tissue_field(draws, grid, 1.0)
        image[channel] = brightness + contrast * shading * seen + level * (grain + mottle) / 2**0.5
    return image
