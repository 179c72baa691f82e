"""The rater: draws a label from the posterior, so that its marginal is the posterior exactly.

y = [q > u], with u uniform at every voxel and alike at neighbours: a rater who draws one boundary
too wide draws the next bit of it too wide as well.

Both sides are whole numbers. q is rounded to k / 2¹⁶ and u to (j + ½) / 2¹⁶, so u < q is j < k,
ties cannot occur, and P(j < k) = k / 2¹⁶ is the stored q itself. A difference in the last bit of a
platform's exp or FFT would have to fall on the edge of a level to be seen at all.

Several classes share one u, stacked on it: class 1 below q₁, class 2 from there to q₁ + q₂, ...,
background above the sum. Each class then has exactly its own posterior.
"""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.fft import next_fast_len
from scipy.special import ndtr

from gradsurge.data.phantoms.draws import Draws
from gradsurge.data.phantoms.fields import smooth_field
from gradsurge.data.phantoms.grid import Grid

Array = NDArray[np.float64]
Levels = NDArray[np.int32]

LEVELS = 1 << 16


def thresholds_of(posterior: Array) -> Levels:
    """Round the sums q₁, q₁ + q₂, ... of a posterior (K, *S) to levels.

    >>> thresholds_of(np.array([[0.25], [0.5]])).tolist()
    [[16384], [49152]]
    """
    sums = np.clip(np.cumsum(posterior, axis=0), 0.0, 1.0)
    return np.rint(sums * LEVELS).astype(np.int32)


def posterior_of(thresholds: Levels) -> NDArray[np.float32]:
    """Return the posterior (K, *S) of those thresholds; float32 holds it without rounding."""
    return np.diff(thresholds, axis=0, prepend=0).astype(np.float32) / np.float32(LEVELS)


def uniform_levels(draws: Draws, grid: Grid, coherence: float) -> Levels:
    """Return the rater's field j (*S): uniform on 0 .. 2¹⁶ - 1 at every voxel, borders included.

    Args:
        draws: the rater's random numbers.
        grid: the voxels.
        coherence: sigma in mm of the Gaussian that makes neighbours alike.
    """
    sigma = grid.in_voxels(coherence)
    # Room of four sigma, so that opposite borders of the image are not neighbours on the torus.
    room = [math.ceil(4 * width) for width in sigma]
    size = [next_fast_len(n + more, real=True) for n, more in zip(grid.size, room, strict=True)]
    field = smooth_field(draws, size, sigma)[tuple(slice(n) for n in grid.size)]
    uniform: Array = ndtr(field)
    return np.minimum(uniform * LEVELS, LEVELS - 1).astype(np.int32)


def draw_label(thresholds: Levels, levels: Levels) -> NDArray[np.uint8]:
    """Return class numbers (*S): the first class whose threshold is above the rater's level.

    >>> draw_label(np.array([[16384], [49152]]), np.array([[16383, 16384, 49152]])).tolist()
    [[1, 2, 0]]
    """
    label = np.zeros(levels.shape, np.uint8)
    for index in reversed(range(len(thresholds))):
        label[levels < thresholds[index]] = index + 1
    return label
