"""The rates of a region loss in closed form, from its slopes and the label sums.

See `gradsurge.surgery.fields` for what the entries mean; there they are sums over voxels, here
every voxel of a sample and label has the same.
"""

import torch
from torch import Tensor

from gradsurge.surgery.operator import Operation


def region_rates(slopes: Tensor, target: Tensor, voxels: Tensor, how: Operation) -> Tensor:
    """Return the rates (K, L, L + 2) from (3, N, C) slopes and the (N, C) sums of y and of 1."""
    strength = 0.0 if how.rule is None else how.rule.scale * how.blend
    intersection, predicted, nll = slopes
    if how.activation == "softmax":
        at_truth = (predicted + intersection).unsqueeze(2)
        difference = predicted.unsqueeze(1) - at_truth  # (N, t, c)
        difference = difference - torch.diag_embed(torch.diagonal(difference, dim1=1, dim2=2))
        region = (difference * target.unsqueeze(2)).sum(dim=0) * strength
        ends = torch.stack(((nll * target).sum(dim=0), target.sum(dim=0)), dim=1)
        return torch.cat((region, ends), dim=1).unsqueeze(0)
    rest, zero = voxels - target, torch.zeros_like(target)
    to_foreground = zero, predicted * rest * strength, nll * rest, rest
    to_background = -(predicted + intersection) * target * strength, zero, nll * target, target
    rows = torch.stack([torch.stack(row, dim=-1) for row in (to_foreground, to_background)], dim=-2)
    return rows.sum(dim=0)
