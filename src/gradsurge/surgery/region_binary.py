"""Region sums of one piece, and a loss's slopes, where a voxel has one logit gap.

Two-class softmax has one gap z_1 - z_0 a voxel, (N, V); sigmoid has one, z, a channel, (N, C, V).
"""

import torch
from torch import Tensor

from gradsurge.surgery.binary import Slopes, binary_nll_sums
from gradsurge.surgery.memory import Scratch

GAP_SUMS = 8  # of p y, p, y, mask y, mask, 1, -(1-y) log(1-p), -y log p


def logit_gap(piece: Tensor, kind: str, scratch: Scratch) -> Tensor:
    """Return the gaps of a (N, C, V) piece as a tensor that may be overwritten.

    The first buffer that a piece takes from ``scratch``, which starts anew with it.
    """
    scratch.start(tuple(piece[:, 0].shape if kind == "two" else piece.shape))
    if kind == "two":
        return torch.sub(piece[:, 1], piece[:, 0], out=scratch.take())
    buffer = scratch.take()
    return piece.clone() if buffer is None else buffer.copy_(piece)


def gap_sums(
    gap: Tensor, y: Tensor, valid: Tensor | None, *, nll: bool, hard: bool, soft: bool
) -> Tensor:
    """Return the sums of a piece over its last axis, stacked in the order of GAP_SUMS.

    Overwrites ``gap``.
    """
    zero = gap.new_zeros(gap.shape[:-1])
    hard_sums, nll_sums = (zero, zero), (zero, zero)
    voxels = torch.full_like(zero, gap.shape[-1])
    if valid is not None:
        y, voxels = y * valid, valid.expand_as(gap).sum(-1)
    if hard:
        mask = (gap > 0).to(gap.dtype)
        mask = mask if valid is None else mask.mul_(valid)
        hard_sums = (mask * y).sum(-1), mask.sum(-1)
    if nll:
        nll_sums = binary_nll_sums(gap, y, valid, soft=soft)
    p = gap.sigmoid_() if valid is None else gap.sigmoid_().mul_(valid)
    predicted = p.sum(-1)
    return torch.stack((p.mul_(y).sum(-1), predicted, y.sum(-1), *hard_sums, voxels, *nll_sums))


def two_class_sums(sums: Tensor) -> Tensor:
    """From (8, N) sums to the (7, N, 2) of `RegionSums`; background follows from foreground."""
    intersection, predicted, target, hard_intersection, hard_predicted, voxels, nll_0, nll_1 = sums
    rows = (
        (voxels - predicted - target + intersection, intersection),
        (voxels - predicted, predicted),
        (nll_0, nll_1),
        (voxels - target, target),
        (voxels - hard_predicted - target + hard_intersection, hard_intersection),
        (voxels - hard_predicted, hard_predicted),
        (voxels, voxels),
    )
    return torch.stack([torch.stack(pair, dim=-1) for pair in rows])


def channel_sums(sums: Tensor) -> Tensor:
    """From (8, N, C) sums to the (7, N, C) of `RegionSums`: channels stand for themselves."""
    intersection, predicted, target, hard_intersection, hard_predicted, voxels, nll_0, nll_1 = sums
    hard = hard_intersection, hard_predicted
    return torch.stack((intersection, predicted, nll_0 + nll_1, target, *hard, voxels))


def two_class_slopes(slopes: Tensor, *, nll: bool) -> Slopes:
    """From dL/dI, dL/dP, dL/dNLL, (3, N, 2), to the slopes along the gap, (N, 1)."""
    intersection, predicted, ce = slopes.unsqueeze(-1)
    at_zero = predicted[:, 1] - predicted[:, 0] - intersection[:, 0]
    at_one = at_zero + intersection[:, 0] + intersection[:, 1]
    return Slopes(at_zero, at_one, *((ce[:, 0], ce[:, 1]) if nll else ()))


def channel_slopes(slopes: Tensor, *, nll: bool) -> Slopes:
    """From dL/dI, dL/dP, dL/dNLL, (3, N, C), to the slopes along each channel's gap, (N, C, 1)."""
    intersection, predicted, ce = slopes.unsqueeze(-1)
    return Slopes(predicted, predicted + intersection, *((ce, ce) if nll else ()))
