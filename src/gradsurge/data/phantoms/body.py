"""A body to put structures in: a deformed ellipsoid of two tissues with a bright rind."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.phantoms.draws import Draws
from gradsurge.data.phantoms.fields import tissue_field
from gradsurge.data.phantoms.grid import Grid
from gradsurge.data.phantoms.shapes import ellipsoid_depth, mean_radius, rise

Array = NDArray[np.float64]

_CANDIDATES = 8


class Body(NamedTuple):
    """Where structures may lie, and what the tissue round them looks like.

    Attributes:
        half_axes: (D,) in mm, of an ellipsoid in the middle of the box.
        depth: mm below the skin, (*S).
        tissue: its look, (*S).
    """

    half_axes: Array
    depth: Array
    tissue: Array


def make_body(draws: Draws, grid: Grid) -> Body:
    """Return a body that fills most of the box."""
    dimensions = len(grid.size)
    half_axes = grid.extent * (0.42 + 0.06 * draws.numbers(dimensions))
    radius = mean_radius(half_axes)
    whole = tuple(slice(None) for _ in grid.size)
    depth = ellipsoid_depth(grid, whole, np.zeros(dimensions), half_axes, np.eye(dimensions))
    depth += 0.04 * radius * np.clip(tissue_field(draws, grid, 0.35 * radius), -2, 2)
    return Body(half_axes, depth, _tissue(draws, grid, depth, radius))


def _tissue(draws: Draws, grid: Grid, depth: Array, radius: float) -> Array:
    folds = tissue_field(draws, grid, 0.09 * radius)
    cloud = tissue_field(draws, grid, 0.03 * radius)
    inner = rise((depth / radius - 0.3) / 0.3)  # folds fade towards the middle
    look = 0.34 + 0.14 * inner + 0.12 * rise(2.0 * folds) * (1 - 0.6 * inner) + 0.025 * cloud
    # A dark gap under a bright rind, as between brain and scalp.
    look *= rise((depth / radius - 0.10) / 0.035)
    look += draws.between(0.35, 0.55) * rise(1 - np.abs(depth / radius - 0.03) / 0.02)
    return look * rise(depth / radius / 0.02)


def place(
    draws: Draws, grid: Grid, body: Body, others: list[tuple[Array, float]], within: float
) -> Array:
    """Return the voxel centre of a new structure: of a few, the one furthest from the others.

    Args:
        draws: random numbers.
        grid: the voxels.
        body: where it must lie.
        others: centre and radius in mm of what is there already.
        within: how far out it may lie, 1 is the body's surface.
    """
    dimensions = len(grid.size)
    best, room = np.zeros(dimensions), -np.inf
    for _ in range(_CANDIDATES):
        direction = draws.normals(dimensions)
        distance = within * draws.between(0.0, 1.0) ** (1 / dimensions)
        point = grid.nearest(direction / np.linalg.norm(direction) * distance * body.half_axes)
        free = min((np.linalg.norm(point - c) - r for c, r in others), default=np.inf)
        if free > room:
            best, room = point, float(free)
    return best
