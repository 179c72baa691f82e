"""Trees of vessels that leave an optic disc, bend, taper and branch, in a disc of radius 1."""

import heapq
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.phantoms.draws import Draws

Array = NDArray[np.float64]

_STEP = 0.025
_BORDER = 0.98  # of the field of view
_TAPER = 0.988  # of the radius at a step
_BEND = 0.09  # standard deviation of the turn at a step, in radians


class Centreline(NamedTuple):
    """Points along the middle of all vessels.

    Attributes:
        points: (N, 2), the disc has radius 1.
        radii: (N,) of the vessel at each point.
    """

    points: Array
    radii: Array


class _Bud(NamedTuple):
    """Where a branch starts."""

    point: Array
    heading: float
    radius: float
    turn: float


def grow_vessels(draws: Draws, disc: Array, share: float) -> Centreline:
    """Return the vessels that start at the optic disc.

    Four arcades of a vein and an artery leave it upwards and downwards, bend round the fovea or
    away from it, and branch. The thickest grows next, until the field is covered as asked.

    Args:
        draws: random numbers.
        disc: (2,), where the vessels start.
        share: of the field of view that vessels cover, where they do not cross.
    """
    # Numbered, so that equal radii never make the heap compare arrays.
    buds = [(-bud.radius, number, bud) for number, bud in enumerate(_arcades(draws, disc))]
    heapq.heapify(buds)
    parts: list[tuple[Array, Array]] = []
    number, missing = len(buds), share * np.pi
    while buds and missing > 0:
        _, _, bud = heapq.heappop(buds)
        points, radii, headings = _branch(draws, bud)
        if len(points) < 2:
            continue
        parts.append((points, radii))
        missing -= 2 * _STEP * float(radii[1:].sum())
        if np.hypot(*points[-1]) < _BORDER - _STEP:
            for child in _fork(draws, points[-1], headings[-1], radii[-1], bud.turn):
                heapq.heappush(buds, (-child.radius, number, child))
                number += 1
    return _joined(parts)


def _arcades(draws: Draws, disc: Array) -> list[_Bud]:
    """Return the starts of the main vessels; the fovea lies towards the middle from the disc."""
    towards = np.pi / 2 if disc[1] < 0 else -np.pi / 2  # axis 1 runs from left to right
    buds = []
    for side in (-1.0, 1.0):
        for spread, radius, turn in ((1.15, 0.030, 0.035), (2.2, 0.021, -0.012)):
            for kind in (1.0, 0.8):  # vein, artery
                heading = towards + side * (spread + 0.35 * (kind - 0.9) + 0.12 * _one(draws))
                size = kind * radius * draws.between(0.85, 1.15)
                start = disc + 0.03 * draws.normals(2)
                buds.append(_Bud(start, heading, size, -side * turn))
    return buds


def _one(draws: Draws) -> float:
    return float(draws.normals(1)[0])


def _branch(draws: Draws, bud: _Bud) -> tuple[Array, Array, Array]:
    """Return points, radii and headings up to the next fork or the border."""
    number = draws.whole(6, 14)
    turns = bud.turn + _BEND * draws.normals(number)
    headings = bud.heading + np.cumsum(turns)
    moves = _STEP * np.stack((np.cos(headings), np.sin(headings)), axis=1)
    points = np.concatenate((bud.point[None], bud.point + np.cumsum(moves, axis=0)))
    outside = np.hypot(points[:, 0], points[:, 1]) >= _BORDER
    kept = int(outside.argmax()) if outside.any() else len(points)
    radii: Array = bud.radius * _TAPER ** np.arange(len(points), dtype=np.float64)
    return points[:kept], radii[:kept], np.append(bud.heading, headings)[:kept]


def _fork(draws: Draws, point: Array, heading: float, radius: float, turn: float) -> list[_Bud]:
    """Split so that r³ is kept (Murray's law): the thicker child turns less."""
    share = draws.between(0.08, 0.45)
    thin, thick = radius * share ** (1 / 3), radius * (1 - share) ** (1 / 3)
    side = draws.sign()
    return [
        _Bud(point, heading - side * draws.between(0.05, 0.25), thick, turn),
        _Bud(point, heading + side * draws.between(0.5, 1.0), thin, 0.0),
    ]


def _joined(parts: list[tuple[Array, Array]]) -> Centreline:
    """Place points along every branch, so dense that discs on them look like a tube."""
    points, radii = [], []
    for line, radius in parts:
        along = np.arange(len(line))
        number = int(np.ceil(_STEP * along[-1] / (0.4 * radius[-1]))) + 1
        at = np.linspace(0.0, along[-1], number)
        points.append(np.stack([np.interp(at, along, axis) for axis in line.T], axis=1))
        radii.append(np.interp(at, along, radius))
    return Centreline(np.concatenate(points), np.concatenate(radii))
