"""Region sums and fields of one piece with C >= 3 exclusive classes."""

import torch
from torch import Tensor

from gradsurge.surgery.multiclass import multiclass_field
from gradsurge.surgery.rule import SurgeryRule


def multiclass_sums(
    z: Tensor, truth: Tensor, valid: Tensor | None, *, nll: bool, hard: bool
) -> Tensor:
    """Return (7, N, C) sums of a piece: p y, p, NLL of the true class, y, mask y, mask, 1.

    ``truth`` is hard one-hot (N, C, V).
    """
    p = z.softmax(dim=1)
    if valid is not None:
        p, truth = p.mul_(valid.unsqueeze(1)), truth * valid.unsqueeze(1)
    zero = torch.zeros(z.shape[:2], dtype=z.dtype, device=z.device)
    nll_sum, h_sums, voxels = zero, (zero, zero), zero + z.shape[-1]
    if valid is not None:
        voxels = zero + valid.sum(-1, keepdim=True)
    if nll:
        minus_log_p = z.logsumexp(dim=1, keepdim=True) - z  # infinite where z is -inf
        nll_sum = minus_log_p.masked_fill_(truth == 0, 0.0).sum(-1)
    if hard:
        numbers = torch.arange(z.shape[1], device=z.device).view(1, -1, 1)
        mask = (z.argmax(dim=1, keepdim=True) == numbers).to(z.dtype)
        mask = mask if valid is None else mask.mul_(valid.unsqueeze(1))
        h_sums = (mask * truth).sum(-1), mask.sum(-1)
    sums = ((p * truth).sum(-1), p.sum(-1), nll_sum, truth.sum(-1), *h_sums, voxels)
    return torch.stack(sums)


def multiclass_region_field(
    z: Tensor, truth: Tensor, slopes: Tensor, rule: SurgeryRule | None, blend: float, nll: bool
) -> Tensor:
    """Return the field (N, C, V) from dL/dI, dL/dP, dL/dNLL, (3, N, C)."""
    intersection, predicted, ce = slopes.unsqueeze(-1)
    at_truth = ((predicted + intersection) * truth).sum(dim=1, keepdim=True)
    # predicted - at_truth is right for every class but the true one.
    difference = torch.addcmul(predicted - at_truth, truth, intersection)
    extra = (ce * truth).sum(dim=1, keepdim=True) if nll else None
    return multiclass_field(z, truth, difference, rule, blend, extra)
