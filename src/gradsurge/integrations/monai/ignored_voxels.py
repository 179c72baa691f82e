"""Voxels that ``ignore_index`` leaves out, by MONAI's convention."""

import torch
from torch import Tensor

from gradsurge.surgery.targets import possible_ignore_index


def without_ignored(target: Tensor, ignore_index: int) -> tuple[Tensor, Tensor]:
    """Return labels that hold nothing but classes, and where they count, (B, 1, *S).

    Class indices are compared with the number. Of one-hot labels the voxels of that class are left
    out; if there is no such class, those that are 0 in every channel.

    Args:
        target: class indices (B, 1, *S), or one label a channel (B, C, *S).
        ignore_index: number of a class, or any other one.

    >>> without_ignored(torch.tensor([[[2, 255, 1]]]), 255)
    (tensor([[[2, 0, 1]]]), tensor([[[ True, False,  True]]]))
    """
    channels = target.shape[1]
    if channels == 1:
        number = possible_ignore_index(target, ignore_index)
        counts = torch.ones_like(target, dtype=torch.bool) if number is None else target != number
        return target.masked_fill(~counts, 0), counts
    if 0 <= ignore_index < channels:
        return target, target[:, ignore_index : ignore_index + 1] != 1
    counts = target.sum(dim=1, keepdim=True) > 0
    first = torch.arange(channels, device=target.device).view(1, -1, *[1] * (target.ndim - 2)) == 0
    return target.masked_fill(~counts & first, 1), counts  # background, which a softmax can read
