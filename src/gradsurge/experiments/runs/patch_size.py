"""A patch size that fits the cases and a budget of voxels."""

import math
from collections.abc import Sequence
from statistics import median

_STEP = 8  # every axis can be halved three times
_SMALLEST = 16


def median_shape(shapes: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Return the median along each axis.

    >>> median_shape([(10, 40), (20, 40), (40, 41)])
    (20, 40)
    """
    return tuple(round(median(sizes)) for sizes in zip(*shapes, strict=True))


def plan_patch(shape: Sequence[int], voxels: int) -> tuple[int, ...]:
    """Return a patch that covers cases of a shape, as far as the budget allows.

    Sizes are multiples of 8. The longest side is shortened until the patch fits the budget, so
    that a patch too large becomes a cube, then a smaller one.

    >>> plan_patch((36, 50, 36), 90_000), plan_patch((112, 112, 73), 90_000)
    ((40, 56, 40), (48, 40, 40))
    """
    size = [max(_SMALLEST, math.ceil(n / _STEP) * _STEP) for n in shape]
    while math.prod(size) > voxels and max(size) > _SMALLEST:
        longest = max(range(len(size)), key=lambda axis: (size[axis], axis))
        size[longest] -= _STEP
    return tuple(size)
