"""Lesions in a body: a few per mille of it, some sure, some faint, among things that look alike.

- Lesions are ellipsoids whose surface random fields deform. The posterior rises over a band whose
  width varies from lesion to lesion. The first one is sure at its core, so no case is empty;
  others peak between 0.3 and 1.
- Mimics look like faint, stretched lesions but are hardly ever one: their posterior is below 0.15.
- Rings (hollow) and filaments (thin, winding) are as bright as lesions and never one.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.phantoms.body import Body, make_body, place
from gradsurge.data.phantoms.draws import Draws
from gradsurge.data.phantoms.fields import tissue_field
from gradsurge.data.phantoms.filaments import filaments
from gradsurge.data.phantoms.grid import Grid, Window
from gradsurge.data.phantoms.scanner import Scene
from gradsurge.data.phantoms.shapes import (
    ellipsoid_depth,
    random_proportions,
    random_rotation,
    rise,
    unite,
)

Array = NDArray[np.float64]

_CONTRAST = 0.38
_SHARE = (0.003, 0.016)  # of the box, the posterior's sum
_THREAD = {2: 1.1, 3: 1.8}  # mm; threads meet a volume's voxels less often than an image's
_CUT = {2: 0.7, 3: 0.0}
_BALL = {2: np.pi, 3: 4 / 3 * np.pi}
_DEFORMATION = 0.18  # of the radius, times a field cut at 2: 0.64 of it remain at the core


class Blob(NamedTuple):
    """A deformed ellipsoid: mm, posterior at its core, and how bright it is."""

    radius: float
    peak: float
    brightness: float
    softness: float
    longest: float


def lesions_scene(draws: Draws, grid: Grid) -> Scene:
    """Return a scene of one class and one channel, in two or three dimensions."""
    body, dimensions = make_body(draws, grid), len(grid.size)
    surface = np.clip(tissue_field(draws, grid, 0.06 * float(np.min(body.half_axes))), -2, 2)
    lesions = _lesions(draws, grid, body)
    mimics = _mimics(draws, lesions)
    posterior, visible = np.zeros(grid.size), np.zeros(grid.size)
    taken: list[tuple[Array, float]] = []
    for blob in (*lesions, *mimics):
        centre = place(draws, grid, body, taken, within=0.72 if taken else 0.5)
        taken.append((centre, blob.radius))
        window, mask = _soft_mask(draws, grid, body, surface, centre, blob)
        unite(posterior, window, blob.peak * mask)
        unite(visible, window, blob.brightness * mask)
    _add_rings(draws, grid, body, taken, visible)
    threads = filaments(
        draws,
        grid,
        length=0.12 * body.half_axes.min(),
        width=_THREAD[dimensions],
        cut=_CUT[dimensions],
    )
    visible = np.maximum(visible, draws.between(0.6, 1.0) * threads * rise(body.depth / 2 - 2))
    return Scene(posterior[None], body.tissue[None], _CONTRAST * visible[None])


def _lesions(draws: Draws, grid: Grid, body: Body) -> list[Blob]:
    """Choose peaks and sizes so that the posterior's sum is the share drawn for the case."""
    count = draws.whole(1, 5)
    peaks = [1.0, *(_peak(draws) for _ in range(count - 1))]
    parts = np.array([draws.log_between(0.15, 1.0) for _ in peaks])
    parts[0] = max(parts[0], 0.4)
    content = parts / np.dot(parts, peaks) * draws.log_between(*_SHARE) * grid.volume
    dimensions = len(grid.size)
    radii = np.minimum((content / _BALL[dimensions]) ** (1 / dimensions), body.half_axes.min() / 2)
    return [
        Blob(float(radius), peak, peak, draws.log_between(0.15, 0.55), 1.8)
        for radius, peak in zip(radii, peaks, strict=True)
    ]


def _peak(draws: Draws) -> float:
    """Half of the lesions are faint."""
    faint = draws.whole(0, 1) == 0
    return draws.between(0.3, 0.8) if faint else draws.between(0.9, 1.0)


def _mimics(draws: Draws, lesions: list[Blob]) -> list[Blob]:
    sizes = [blob.radius for blob in lesions]
    return [
        Blob(
            radius=draws.log_between(0.7, 1.3) * sizes[draws.whole(0, len(sizes) - 1)],
            peak=max(draws.between(-0.1, 0.15), 0.0),
            brightness=draws.between(0.25, 0.55),
            softness=draws.between(0.3, 0.55),
            longest=4.0,
        )
        for _ in range(draws.whole(0, 3))
    ]


def _soft_mask(
    draws: Draws, grid: Grid, body: Body, surface: Array, centre: Array, blob: Blob
) -> tuple[Window, Array]:
    """Return where a blob lies and its soft mask there, 1 at its centre."""
    dimensions = len(grid.size)
    half_axes = blob.radius * random_proportions(draws, dimensions, blob.longest)
    rotation = random_rotation(draws, dimensions)
    # Outside of twice its longest half axis even the softest and most deformed blob has ended.
    window = grid.window(centre, 2 * float(half_axes.max()))
    depth = ellipsoid_depth(grid, window, centre, half_axes, rotation)
    depth += _DEFORMATION * blob.radius * surface[window]
    depth = np.minimum(depth, body.depth[window])
    return window, rise(depth / (blob.softness * blob.radius))


def _add_rings(
    draws: Draws, grid: Grid, body: Body, taken: list[tuple[Array, float]], visible: Array
) -> None:
    dimensions = len(grid.size)
    for _ in range(draws.whole(0, 3)):
        radius = draws.between(0.07, 0.13) * float(body.half_axes.min())
        centre = place(draws, grid, body, taken, within=0.7)
        taken.append((centre, radius))
        half_axes = radius * random_proportions(draws, dimensions, 1.4)
        window = grid.window(centre, 2 * float(half_axes.max()))
        depth = ellipsoid_depth(grid, window, centre, half_axes, random_rotation(draws, dimensions))
        shell = rise(1 - np.abs(depth) / (0.3 * radius))
        unite(visible, window, draws.between(0.6, 1.0) * shell)
