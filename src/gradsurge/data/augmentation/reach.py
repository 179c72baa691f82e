"""What a rotated or scaled patch needs of its case: no voxel more, and none missing.

nnU-Net reads a larger patch of fixed size for every sample, though two in three are neither rotated
nor scaled, and fills with zeros what the widest rotation and scaling need beyond it. Here the
matrix is drawn first and the box that it reaches is read.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from gradsurge.data.augmentation.affine import Affine

Pairs = tuple[tuple[int, int], ...]
_SLACK = 1e-3  # voxels; float32 rounds the coordinates


def reached_box(start: Sequence[int], size: Sequence[int], affine: Affine | None) -> Pairs:
    """Return (start, stop) along each axis of the box that holds every neighbour of every sample.

    >>> reached_box((10, 10), (5, 5), None)
    ((10, 15), (10, 15))
    >>> reached_box((10, 10), (5, 5), np.diag([2.0, 1.0]))
    ((7, 18), (9, 16))
    """
    if affine is None:
        return tuple((a, a + n) for a, n in zip(start, size, strict=True))
    half = (np.asarray(size) - 1) / 2
    centre = np.asarray(start) + half
    extent = np.abs(affine) @ half + _SLACK
    low, high = np.floor(centre - extent), np.ceil(centre + extent)
    return tuple((int(a), int(b) + 1) for a, b in zip(low, high, strict=True))


def sampling_grid(start: Sequence[int], size: Sequence[int], affine: Affine, box: Pairs) -> Tensor:
    """Return where in a box the voxels of a patch lie, (*P, axes) as `grid_sample` counts.

    That is from -1 to 1 between the outer edges of the box, last axis first.
    """
    axes = len(size)
    steps = [torch.arange(n, dtype=torch.float64) - (n - 1) / 2 for n in size]
    grid = torch.empty(*size, axes)
    for d, (low, high) in enumerate(box):
        scale = 2 / (high - low)
        middle = start[d] + (size[d] - 1) / 2 - low + 0.5
        parts = [float(affine[d, j]) * scale * steps[j] for j in range(axes)]
        parts[-1] = parts[-1] + (middle * scale - 1)
        total = parts[0]
        for part in parts[1:-1]:
            total = total[..., None] + part
        # One pass of float32 over the patch an axis: a product of matrices takes ten times as long.
        torch.add(total[..., None].float(), parts[-1].float(), out=grid[..., axes - 1 - d])
    return grid
