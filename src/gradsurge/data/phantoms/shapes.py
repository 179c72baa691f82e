"""Shapes by their depth: mm below the surface, negative outside; `rise` makes soft masks of it."""

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.phantoms.draws import Draws
from gradsurge.data.phantoms.grid import Grid, Window

Array = NDArray[np.float64]


def rise(depth: Array) -> Array:
    """Return 0 below -1, 1 above 1, and a smooth step between, with two derivatives.

    Its ends are exact, so that far from every boundary the posterior is 0 or 1 and not nearly so.

    >>> rise(np.array([-1.0, 0.0, 0.5, 1.0])).round(4).tolist()
    [0.0, 0.5, 0.8965, 1.0]
    """
    t = np.clip((depth + 1) / 2, 0.0, 1.0)
    return t * t * t * (t * (6 * t - 15) + 10)


def unite(mask: Array, window: Window, part: Array) -> None:
    """Add a part to a soft mask in place: 1 - (1 - mask)(1 - part)."""
    mask[window] = 1 - (1 - mask[window]) * (1 - part)


def ellipsoid_depth(
    grid: Grid, window: Window, centre: Array, half_axes: Array, rotation: Array
) -> Array:
    """Return the depth in a window: exact at the centre and on the surface, scaled between.

    Args:
        grid: the voxels.
        window: the part of them to compute.
        centre: (D,) in mm.
        half_axes: (D,) in mm.
        rotation: (D, D), rows are the directions of the half axes.
    """
    offsets = grid.offsets(centre, window)
    square: Array = np.zeros(())
    for direction, length in zip(rotation, half_axes, strict=True):
        along = sum(cosine * x for cosine, x in zip(direction, offsets, strict=True))
        square = square + (along / length) ** 2
    return (1 - np.sqrt(square)) * mean_radius(half_axes)


def mean_radius(half_axes: Array) -> float:
    """Return the radius of the ball with the ellipsoid's volume."""
    return float(np.prod(half_axes) ** (1 / len(half_axes)))


def random_rotation(draws: Draws, dimensions: int, most: float = np.pi) -> Array:
    """Return a rotation: a turn by up to ``most`` radians either way in every plane of two axes."""
    rotation = np.eye(dimensions)
    for i in range(dimensions):
        for j in range(i + 1, dimensions):
            angle = draws.between(-most, most)
            turn = np.eye(dimensions)
            turn[[i, j], [i, j]] = np.cos(angle)
            turn[i, j], turn[j, i] = -np.sin(angle), np.sin(angle)
            rotation = turn @ rotation
    return rotation


def random_proportions(draws: Draws, dimensions: int, longest: float) -> Array:
    """Return half axes of an ellipsoid of mean radius 1, up to ``longest`` times each other."""
    lengths = longest ** draws.numbers(dimensions)
    return lengths / mean_radius(lengths)
