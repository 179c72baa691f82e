"""Random rotation and scaling, as a matrix."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Affine = NDArray[np.float64]
_PLANES = {0: (1, 2), 1: (2, 0), 2: (0, 1)}  # what turns about each axis, and which way round


@dataclass(frozen=True)
class AffineChances:
    """How often and how far a patch is rotated and scaled.

    Attributes:
        p_rotation: probability of a rotation.
        degrees: the largest angle, either way.
        p_scaling: probability of a scaling, the same along every axis.
        scaling: lowest and highest factor; above 1 more is seen, and smaller.
        flat_axis: an axis to leave alone, where slices are few: only the planes across it are
            rotated and scaled.
    """

    p_rotation: float
    degrees: float
    p_scaling: float
    scaling: tuple[float, float]
    flat_axis: int | None = None


def draw_affine(chances: AffineChances, dimensions: int, rng: np.random.Generator) -> Affine | None:
    """Return the matrix that takes a patch's voxels to the case's, both from their centres.

    None stands for the identity, of which nothing needs to be computed.
    """
    rotated, scaled = rng.random(2) < (chances.p_rotation, chances.p_scaling)
    if not (rotated or scaled):
        return None
    matrix = np.eye(dimensions)
    if rotated:
        matrix = _rotation(chances, dimensions, rng)
    if scaled:
        factors = np.full(dimensions, rng.uniform(*chances.scaling))
        if chances.flat_axis is not None:
            factors[chances.flat_axis] = 1.0
        matrix = matrix * factors
    return matrix


def _rotation(chances: AffineChances, dimensions: int, rng: np.random.Generator) -> Affine:
    most = math.radians(chances.degrees)
    if dimensions == 2:
        return turn(2, (0, 1), rng.uniform(-most, most))
    axes = range(3) if chances.flat_axis is None else (chances.flat_axis,)
    matrix = np.eye(3)
    for axis in axes:
        matrix = turn(3, _PLANES[axis], rng.uniform(-most, most)) @ matrix
    return matrix


def turn(dimensions: int, plane: tuple[int, int], angle: float) -> Affine:
    """Return the rotation in the plane of two axes, from the first towards the second.

    >>> turn(2, (0, 1), math.pi / 2).round(3)
    array([[ 0., -1.],
           [ 1.,  0.]])
    """
    matrix = np.eye(dimensions)
    first, second = plane
    matrix[first, first] = matrix[second, second] = math.cos(angle)
    matrix[first, second], matrix[second, first] = -math.sin(angle), math.sin(angle)
    return matrix
