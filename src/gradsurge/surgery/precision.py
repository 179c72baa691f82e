"""Which dtype the arithmetic runs in, whatever dtype the caller uses."""

import torch
from torch import Tensor


def compute_dtype(x: Tensor) -> torch.dtype:
    """Half and bfloat16 are computed in float32; float32 and float64 stay.

    >>> compute_dtype(torch.zeros(1, dtype=torch.float16))
    torch.float32
    """
    return x.dtype if x.dtype in (torch.float32, torch.float64) else torch.float32


def sum_dtype(device: torch.device) -> torch.dtype:
    """Sums over voxels are kept in float64, except on MPS, which has none."""
    return torch.float32 if device.type == "mps" else torch.float64
