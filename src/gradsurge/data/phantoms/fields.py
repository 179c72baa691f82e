"""Smooth random fields: white noise through a Gaussian, scaled to variance 1 at every voxel."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from gradsurge.data.phantoms.draws import Draws
from gradsurge.data.phantoms.grid import Grid

Array = NDArray[np.float64]


def smooth_field(draws: Draws, size: Sequence[int], sigma: Sequence[float]) -> Array:
    """Return a Gaussian field (*size) with mean 0 and variance 1 at every voxel.

    The filter works on a torus, where every voxel has the same variance: the sum of the kernel's
    squares, which is the mean square of its frequency response. Dividing by it is exact.
    Opposite borders are correlated; cut a part out of a larger field where that matters.

    Args:
        draws: where the white noise comes from.
        size: voxels along each axis.
        sigma: of the Gaussian, in voxels along each axis; 0 leaves the noise white.
    """
    spectrum = fft.rfftn(draws.normals(*size))
    variance = 1.0
    for axis, (n, width) in enumerate(zip(size, sigma, strict=True)):
        response = np.exp(-2 * (np.pi * width * fft.fftfreq(n)) ** 2)
        variance *= float(np.mean(response**2))
        kept = response[: spectrum.shape[axis]]
        spectrum *= kept.reshape([-1 if axis == j else 1 for j in range(len(size))])
    spectrum /= np.sqrt(variance)
    field: Array = fft.irfftn(spectrum, s=tuple(size), overwrite_x=True)
    return field


def tissue_field(draws: Draws, grid: Grid, length: float) -> Array:
    """Return a Gaussian field (*S) that varies over ``length`` mm."""
    return smooth_field(draws, grid.size, grid.in_voxels(length))
