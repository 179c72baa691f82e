"""Rotary position embedding on a grid of any number of axes."""

from collections.abc import Sequence

import torch
from torch import Tensor

BASE = 10_000.0


def rotary_angles(
    grid: Sequence[int], width: int, device: torch.device | str | None = None
) -> Tensor:
    """Return the angle of each pair of channels at each token, shape (T, width/2).

    An equal share of the pairs turns with each axis; pair j of B turns by position · 10000^(-j/B).
    Positions count tokens from 0, whatever the size of the grid.

    Args:
        grid: tokens along each axis; T is their product, the last axis running fastest.
        width: channels of a head, divisible by twice the number of axes.
        device: where to compute.

    >>> rotary_angles((2, 3), 4).tolist()
    [[0.0, 0.0], [0.0, 1.0], [0.0, 2.0], [1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]
    """
    bands = width // (2 * len(grid))
    speeds = BASE ** (-torch.arange(bands, device=device, dtype=torch.float32) / bands)
    positions = torch.meshgrid(
        *(torch.arange(n, device=device, dtype=torch.float32) for n in grid), indexing="ij"
    )
    return torch.cat([p.reshape(-1, 1) * speeds for p in positions], dim=1)


def rotate(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Turn neighbouring channels of ``x`` (..., T, width) as points of a plane.

    After that the product of a query and a key depends on the offset of their tokens alone.

    >>> angle = torch.tensor([[torch.pi / 2]])
    >>> rotate(torch.tensor([[1.0, 0.0]]), angle.cos(), angle.sin()).round().tolist()
    [[-0.0, 1.0]]
    """
    a, b = x[..., 0::2], x[..., 1::2]
    turned = torch.stack((a * cosine - b * sine, a * sine + b * cosine), dim=-1)
    return turned.flatten(-2).to(x.dtype)
