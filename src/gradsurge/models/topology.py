"""Which axes a U-Net halves where: nnU-Net's rule."""

from dataclasses import dataclass
from math import prod

LEAST = 4  # voxels an axis keeps at the bottom
Vector = tuple[int, ...]


@dataclass(frozen=True)
class Topology:
    """Strides and kernels of the levels, the finest first.

    Attributes:
        strides: of the first convolution of a level.
        kernels: of all its convolutions.
    """

    strides: tuple[Vector, ...]
    kernels: tuple[Vector, ...]

    @property
    def divisor(self) -> Vector:
        """What the sizes of a window must be divisible by."""
        return tuple(prod(steps) for steps in zip(*self.strides, strict=True))


def plan_topology(
    patch: Vector, spacing: tuple[float, ...], max_depth: int | None = None
) -> Topology:
    """Return the levels for a patch, as nnU-Net's planner lays them out.

    From level to level an axis is halved if 4 voxels or more remain, and if its spacing is less
    than twice the finest among the axes that can still be halved; a level that could halve one axis
    alone needs 12 voxels on it. A kernel has size 1 along an axis until its spacing has come within
    a factor 2 of the finest, then 3; at the bottom always 3.

    Args:
        patch: size in voxels.
        spacing: voxel size, in any unit.
        max_depth: number of levels not to be exceeded.

    >>> plan_topology((40, 56, 40), (1.0, 1.0, 1.0)).divisor
    (8, 8, 8)
    >>> plan_topology((20, 320, 256), (3.6, 0.6, 0.6)).strides[1:4]
    ((1, 2, 2), (1, 2, 2), (2, 2, 2))
    """
    axes = range(len(patch))
    size, space, kernel = list(patch), list(spacing), [1] * len(patch)
    strides, kernels = [(1,) * len(patch)], []
    while max_depth is None or len(strides) < max_depth:
        halved = _axes_to_halve(size, space)
        if not halved:
            break
        kernel = [3 if space[i] / min(space) < 2 else kernel[i] for i in axes]
        kernels.append(tuple(kernel))
        strides.append(tuple(2 if i in halved else 1 for i in axes))
        for i in halved:
            size[i] = -(-size[i] // 2)
            space[i] *= 2
    return Topology(tuple(strides), (*kernels, (3,) * len(patch)))


def _axes_to_halve(size: list[int], space: list[float]) -> list[int]:
    """Return the axes the next level halves: none at the bottom."""
    long_enough = [i for i, n in enumerate(size) if n >= 2 * LEAST]
    if not long_enough:
        return []
    finest = min(space[i] for i in long_enough)
    halved = [i for i in long_enough if space[i] / finest < 2]
    alone = len(halved) == 1 and size[halved[0]] < 3 * LEAST
    return [] if alone else halved


def round_up(patch: Vector, divisor: Vector) -> Vector:
    """Return the smallest patch that holds ``patch`` and is divisible.

    >>> round_up((40, 50, 30), (8, 8, 8))
    (40, 56, 32)
    """
    return tuple(-(-n // d) * d for n, d in zip(patch, divisor, strict=True))
