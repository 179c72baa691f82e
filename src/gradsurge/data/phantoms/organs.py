"""Two adjacent structures in a body: doubt against the background and between the classes.

One deformed ellipsoid is split by a curved surface into a front (class 1) and a back part
(class 2). Labels are in doubt over a band at its border and over a wider one at the split, where
the parts differ little in brightness. A neighbour as bright as class 1 or a little brighter lies
against the side, and filaments run through the body; both are background.
"""

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.phantoms.body import Body, make_body
from gradsurge.data.phantoms.draws import Draws
from gradsurge.data.phantoms.fields import tissue_field
from gradsurge.data.phantoms.filaments import filaments
from gradsurge.data.phantoms.grid import Grid
from gradsurge.data.phantoms.scanner import Scene
from gradsurge.data.phantoms.shapes import ellipsoid_depth, mean_radius, random_rotation, rise

Array = NDArray[np.float64]

_SHARE = (0.035, 0.07)  # of the box, both structures together


def organs_scene(draws: Draws, grid: Grid) -> Scene:
    """Return a scene of two classes and one channel, in three dimensions."""
    body = make_body(draws, grid)
    content = draws.between(*_SHARE) * grid.volume
    half_axes = np.array([1.5, 0.95, 0.8]) * 1.06 ** draws.normals(3)
    half_axes *= (content / (4 / 3 * np.pi)) ** (1 / 3) / mean_radius(half_axes)
    half_axes = np.minimum(half_axes, 0.7 * body.half_axes.min())
    radius = mean_radius(half_axes)
    rotation = random_rotation(draws, 3, most=0.5)
    centre = grid.nearest((draws.numbers(3) - 0.5) * 0.25 * body.half_axes)
    bumps = np.clip(tissue_field(draws, grid, 0.3 * radius), -2, 2)
    depth = _depth(grid, centre, half_axes, rotation) + 0.12 * radius * bumps
    inside = rise(depth / (radius * draws.between(0.1, 0.3)))
    back = _split(draws, grid, centre, rotation[0], radius)
    posterior = np.stack((inside * (1 - back), inside * back))
    neighbour = _neighbour(draws, grid, centre, half_axes, rotation, body) * (1 - inside)
    first = draws.between(0.36, 0.46)
    signal = first * posterior[0] + (first - draws.between(0.11, 0.17)) * posterior[1]
    signal += first * draws.between(0.95, 1.3) * neighbour
    threads = filaments(draws, grid, length=0.3 * radius, width=1.4, cut=0.3) * rise(
        body.depth / 2 - 3
    )
    signal += draws.between(0.15, 0.3) * threads * (1 - inside)
    return Scene(posterior, body.tissue[None], signal[None])


def _depth(grid: Grid, centre: Array, half_axes: Array, rotation: Array) -> Array:
    whole = tuple(slice(None) for _ in grid.size)
    return ellipsoid_depth(grid, whole, centre, half_axes, rotation)


def _split(draws: Draws, grid: Grid, centre: Array, direction: Array, radius: float) -> Array:
    """Return the share of the back part, (*S): 0 in front, 1 behind."""
    whole = tuple(slice(None) for _ in grid.size)
    offsets = grid.offsets(centre, whole)
    along = sum(cosine * x for cosine, x in zip(direction, offsets, strict=True))
    along = along + 0.3 * radius * tissue_field(draws, grid, 0.6 * radius)
    along = along - draws.between(-0.25, 0.25) * radius
    return rise(along / (radius * draws.between(0.15, 0.45)))


def _neighbour(
    draws: Draws, grid: Grid, centre: Array, half_axes: Array, rotation: Array, body: Body
) -> Array:
    """Return the soft mask of a third organ that lies against the side of the two."""
    own = half_axes * np.array([0.55, 0.7, 0.8])
    reach = half_axes[1] + 0.85 * own[1]
    slide = draws.between(-0.5, 0.5) * half_axes[0]
    there = centre + reach * rotation[1] + slide * rotation[0]
    depth = np.minimum(_depth(grid, there, own, rotation), body.depth - 2)
    return rise(depth / (0.15 * mean_radius(own)))
