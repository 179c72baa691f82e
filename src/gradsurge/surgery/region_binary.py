"""Region sums and fields of one piece where a voxel has one logit gap.

Two-class softmax has one gap z_1 - z_0 a voxel; sigmoid has one, z, a channel. Shapes below:
(N, V) for two classes, (N, C, V) for channels, constants end in an axis of length 1.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from gradsurge.surgery.binary import binary_weight, positive_and_negative_nll
from gradsurge.surgery.precision import sum_dtype
from gradsurge.surgery.rule import SurgeryRule


class GapSums(NamedTuple):
    """Sums over the last axis: of p y, p, y, mask y, mask, 1, and the two halves of the NLL."""

    intersection: Tensor
    predicted: Tensor
    target: Tensor
    hard_intersection: Tensor
    hard_predicted: Tensor
    voxels: Tensor
    nll_positive: Tensor
    nll_negative: Tensor


def gap_sums(
    gap: Tensor, y: Tensor, valid: Tensor | None, *, nll: bool, hard: bool, soft: bool
) -> GapSums:
    """Return the sums of a piece in the dtype sums are kept in."""
    zero = torch.zeros(gap.shape[:-1], dtype=gap.dtype, device=gap.device)
    h_sums, nll_sums, voxels = (zero, zero), (zero, zero), zero + gap.shape[-1]
    if valid is not None:
        y, voxels = y * valid, valid.expand_as(gap).sum(-1)
    if hard:
        mask = (gap > 0).to(gap.dtype)
        mask = mask if valid is None else mask.mul_(valid)
        h_sums = (mask * y).sum(-1), mask.sum(-1)
    if nll:
        nll_sums = positive_and_negative_nll(gap, y, valid, soft=soft)
    p = gap.sigmoid() if valid is None else gap.sigmoid().mul_(valid)
    total = p.sum(-1)
    sums = (p.mul_(y).sum(-1), total, y.sum(-1), *h_sums, voxels, *nll_sums)
    return GapSums(*(s.to(sum_dtype(gap.device)) for s in sums))


def two_class_sums(s: GapSums) -> Tensor:
    """Return (7, N, 2) sums of background and foreground; background follows from the rest."""
    rows = (
        (s.voxels - s.predicted - s.target + s.intersection, s.intersection),
        (s.voxels - s.predicted, s.predicted),
        (s.nll_negative, s.nll_positive),
        (s.voxels - s.target, s.target),
        (s.voxels - s.hard_predicted - s.target + s.hard_intersection, s.hard_intersection),
        (s.voxels - s.hard_predicted, s.hard_predicted),
        (s.voxels, s.voxels),
    )
    return torch.stack([torch.stack(pair, dim=-1) for pair in rows])


def channel_sums(s: GapSums) -> Tensor:
    """Return (7, N, C) sums of channels that stand for themselves."""
    nll = s.nll_positive + s.nll_negative
    hard = s.hard_intersection, s.hard_predicted
    return torch.stack((s.intersection, s.predicted, nll, s.target, *hard, s.voxels))


class GapSlopes(NamedTuple):
    """The loss's slopes as constants a voxel needs.

    dL/dp is base + gain y, and cross-entropy weighs foreground and background voxels with
    ``nll_positive`` and ``nll_negative``.
    """

    base: Tensor
    gain: Tensor
    nll_positive: Tensor
    nll_negative: Tensor

    def rows(self, rows: slice, dtype: torch.dtype) -> "GapSlopes":
        """Return those of some samples, with an axis to broadcast over voxels."""
        return GapSlopes(*(t[rows].to(dtype).unsqueeze(-1) for t in self))


def two_class_slopes(slopes: Tensor) -> GapSlopes:
    """From dL/dI, dL/dP, dL/dNLL, (3, N, 2), to the slopes along the gap."""
    intersection, predicted, nll = slopes
    base = predicted[:, 1] - predicted[:, 0] - intersection[:, 0]
    return GapSlopes(base, intersection.sum(dim=1), nll[:, 1], nll[:, 0])


def channel_slopes(slopes: Tensor) -> GapSlopes:
    """From dL/dI, dL/dP, dL/dNLL, (3, N, C), to the slopes along each channel's gap."""
    intersection, predicted, nll = slopes
    return GapSlopes(predicted, intersection, nll, nll)


def gap_field(
    gap: Tensor,
    y: Tensor,
    at: GapSlopes,
    rule: SurgeryRule | None,
    blend: float,
    *,
    nll: bool,
    soft: bool,
) -> Tensor:
    """Return the field on the gap: the operated region part plus cross-entropy's own."""
    weight, error = binary_weight(gap, y, rule, blend, soft=soft)
    field = (y * at.gain).add_(at.base).mul_(weight)
    if not nll:
        return field
    if soft:
        positive = gap.neg().sigmoid_().mul_(y).mul_(at.nll_positive)
        return field.add_((1.0 - y).mul_(gap.sigmoid()).mul_(at.nll_negative)).sub_(positive)
    share = (y * -(at.nll_positive + at.nll_negative)).add_(at.nll_negative)
    return field.add_(share.mul_(error))
