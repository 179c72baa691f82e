"""How much a window's middle counts against its borders."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

# Below this a corner seen by one window alone would be divided by next to nothing.
_LEAST = 1e-3


def gaussian_weights(window: Sequence[int], sigma: float) -> Tensor:
    """Return the weights (*window) of a window's voxels, float32, at least 1e-3.

    w(x) = max(1e-3, exp(-Σ_a (x_a - m_a)² / (2 (sigma W_a)²))), m the middle of the window and W
    its size: MONAI's "gaussian" mode. Only ratios between windows count.

    Args:
        window: voxels along each axis.
        sigma: width of the bell, as a share of the window; infinite for equal weights.

    >>> gaussian_weights((3,), 0.5).tolist()
    [0.8007, 1.0, 0.8007]
    """
    weights = torch.ones(())
    for size in window:
        offset = torch.arange(size, dtype=torch.float64) - (size - 1) / 2
        width = sigma * size
        bell = torch.exp(-(offset**2) / (2 * width**2)) if math.isfinite(width) else offset * 0 + 1
        weights = weights.unsqueeze(-1) * bell
    return weights.float().clamp_min(_LEAST)
