"""Vessels of the retina: a tree in a round field of view, thin vessels less certain than thick.

The posterior of a vessel peaks at 1 where it is thick and falls to 0.35 for the thinnest, and its
border is a band in doubt. Spots like bleedings and dim bands like the vessels beneath the retina
are as dark as vessels and never one.
"""

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.phantoms.draws import Draws
from gradsurge.data.phantoms.fields import tissue_field
from gradsurge.data.phantoms.filaments import filaments
from gradsurge.data.phantoms.grid import Grid
from gradsurge.data.phantoms.scanner import Scene
from gradsurge.data.phantoms.shapes import rise, unite
from gradsurge.data.phantoms.vessel_tree import Centreline, grow_vessels

Array = NDArray[np.float64]

_SHARE = (0.15, 0.175)  # of the field of view; crossings and doubt leave 7 to 8 % of the image
_FIELD = 0.48  # its radius, of the shorter side
_RETINA = np.array([0.72, 0.42, 0.24])
_DISC = np.array([0.14, 0.25, 0.16])  # what the optic disc adds to it
_DARK = np.array([0.24, 0.28, 0.12])  # what a vessel takes away of red, green and blue


def vessels_scene(draws: Draws, grid: Grid) -> Scene:
    """Return a scene of one class and three channels (red, green, blue), in two dimensions."""
    field = _FIELD * float(grid.extent.min())
    disc = np.array([draws.between(-0.1, 0.1), draws.sign() * draws.between(0.45, 0.6)])
    whole = (slice(None), slice(None))
    distance = np.hypot(*grid.offsets(np.zeros(2), whole)) / field
    tree = grow_vessels(draws, disc, draws.between(*_SHARE))
    scaled = Centreline(tree.points * field, tree.radii * field)
    posterior = paint(grid, scaled, unit=field / 61.44) * (distance < 0.99)
    spots = _spots(draws, grid, field)
    dim = 0.3 * filaments(draws, grid, length=0.13 * field, width=0.03 * field, cut=0.7)
    dark = np.maximum(np.maximum(posterior, spots), dim)
    inside = rise((1 - distance) / 0.012)
    background = _retina(draws, grid, disc * field, field) * inside
    return Scene(posterior[None], background, -_DARK[:, None, None] * dark * inside)


def paint(grid: Grid, tree: Centreline, unit: float) -> Array:
    """Return the posterior (*S): the highest of all discs along the centreline.

    Args:
        grid: the voxels.
        tree: points and radii in mm.
        unit: mm of a pixel at the default size; sure vessels are thicker than two of them.
    """
    peaks = 0.35 + 0.65 * rise(2 * (tree.radii / unit - 0.35) / 0.6 - 1)
    widths = np.clip(0.5 * tree.radii, 0.55 * unit, 0.9 * unit)
    step = np.array(grid.spacing)
    places = tree.points / step + (np.array(grid.size) - 1) / 2
    reach = np.ceil((tree.radii + widths) / step.min()).astype(np.int64)
    posterior = np.zeros(grid.size)
    for wide in np.unique(reach):  # discs of one size at a time, so that their windows stack
        group = reach == wide
        near = np.rint(places[group])[..., None] + np.arange(-wide, wide + 1)  # (n, 2, window)
        away = ((near - places[group][..., None]) * step[:, None]) ** 2
        distance = np.sqrt(away[:, 0, :, None] + away[:, 1, None, :])
        depth = (tree.radii[group, None, None] - distance) / widths[group, None, None]
        value = peaks[group, None, None] * rise(depth)
        seen = (near >= 0) & (near < np.array(grid.size)[:, None])
        disc, row, column = np.nonzero((value > 0) & seen[:, 0, :, None] & seen[:, 1, None, :])
        pixels = near[disc, 0, row].astype(np.int64), near[disc, 1, column].astype(np.int64)
        np.maximum.at(posterior, pixels, value[disc, row, column])
    return posterior


def _spots(draws: Draws, grid: Grid, field: float) -> Array:
    """Return a soft mask of small dark spots."""
    mask = np.zeros(grid.size)
    for _ in range(draws.whole(1, 6)):
        angle, away = draws.between(0, 2 * np.pi), 0.85 * field * draws.between(0, 1) ** 0.5
        centre = away * np.array([np.cos(angle), np.sin(angle)])
        radius = field * draws.between(0.025, 0.055)
        window = grid.window(centre, 2 * radius)
        distance = np.hypot(*grid.offsets(centre, window))
        unite(mask, window, draws.between(0.4, 0.9) * rise((radius - distance) / (0.5 * radius)))
    return mask


def _retina(draws: Draws, grid: Grid, disc: Array, field: float) -> Array:
    """Return the retina without vessels, (3, *S): vignette, bright disc, dark fovea, texture."""
    whole = (slice(None), slice(None))
    distance = np.hypot(*grid.offsets(np.zeros(2), whole)) / field
    fovea = np.hypot(*grid.offsets(-0.2 * disc, whole)) / field
    bright = rise((0.15 - np.hypot(*grid.offsets(disc, whole)) / field) / 0.05)
    mottled = 0.05 * tissue_field(draws, grid, 0.2 * field)
    mottled += 0.02 * tissue_field(draws, grid, 0.04 * field)
    light = 1.05 - 0.3 * distance**2 - 0.22 * rise(1 - fovea / 0.17) + mottled
    hue = np.array([1.0, 1 + 0.15 * draws.between(-1, 1), 1 + 0.25 * draws.between(-1, 1)])
    colour: Array = (_RETINA * hue)[:, None, None] * light
    return colour + _DISC[:, None, None] * bright
