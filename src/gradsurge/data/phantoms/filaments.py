"""Winding threads that look like vessels: where smooth random fields are near zero."""

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.phantoms.draws import Draws
from gradsurge.data.phantoms.fields import tissue_field
from gradsurge.data.phantoms.grid import Grid
from gradsurge.data.phantoms.shapes import rise

Array = NDArray[np.float64]


def filaments(draws: Draws, grid: Grid, length: float, width: float, cut: float) -> Array:
    """Return a soft mask (*S) of threads.

    A thread in D dimensions is where D - 1 fields vanish together; a last one cuts it to pieces.

    Args:
        draws: random numbers.
        grid: the voxels.
        length: mm over which threads bend.
        width: mm, half of the thickness; a field changes by about 1 / length per mm.
        cut: threads are kept where another field is above it; higher leaves fewer.
    """
    dimensions = len(grid.size)
    square = sum(tissue_field(draws, grid, length) ** 2 for _ in range(dimensions - 1))
    near = 1 - np.sqrt(square) * length / width
    pieces = tissue_field(draws, grid, 1.5 * length)
    return rise(near) * rise(2 * (pieces - cut))
