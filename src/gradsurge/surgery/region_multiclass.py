"""Region sums and fields of one piece with C >= 3 exclusive classes."""

import math

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
    p, log_total = _softmax(z)
    if valid is not None:
        p, truth = p.mul_(valid.unsqueeze(1)), truth * valid.unsqueeze(1)
    zero = torch.zeros(z.shape[:2], dtype=z.dtype, device=z.device)
    nll_sum, h_sums, voxels = zero, (zero, zero), zero + z.shape[-1]
    if valid is not None:
        voxels = zero + valid.sum(-1, keepdim=True)
    if nll:
        # Infinite where z is -inf, and times 0 no number there; NaN logits show in the sums of p.
        of_truth = (log_total - z).mul_(truth)
        nll_sum = of_truth.nan_to_num_(nan=0.0, posinf=math.inf, neginf=-math.inf).sum(-1)
    if hard:
        numbers = torch.arange(z.shape[1], device=z.device).view(1, -1, 1)
        mask = (z.argmax(dim=1, keepdim=True) == numbers).to(z.dtype)
        mask = mask if valid is None else mask.mul_(valid.unsqueeze(1))
        h_sums = (mask * truth).sum(-1), mask.sum(-1)
    sums = ((p * truth).sum(-1), p.sum(-1), nll_sum, truth.sum(-1), *h_sums, voxels)
    return torch.stack(sums)


def _softmax(z: Tensor) -> tuple[Tensor, Tensor]:
    """Return p and log sum exp z over the classes; both need the exponentials, made once."""
    largest = z.amax(dim=1, keepdim=True)
    p = (z - largest).exp_()
    total = p.sum(dim=1, keepdim=True)
    return p.div_(total), total.log_().add_(largest)


def multiclass_region_field(
    p: Tensor, truth: Tensor, slopes: Tensor, rule: SurgeryRule | None, blend: float, nll: bool
) -> Tensor:
    """Return the field (N, C, V) from dL/dI, dL/dP, dL/dNLL, (3, N, C)."""
    intersection, predicted, ce = slopes.unsqueeze(-1)
    at_truth = ((predicted + intersection) * truth).sum(dim=1, keepdim=True)
    # predicted - at_truth is right for every class but the true one.
    difference = torch.addcmul(predicted - at_truth, truth, intersection)
    extra = (ce * truth).sum(dim=1, keepdim=True) if nll else None
    return multiclass_field(p, truth, difference, rule, blend, extra)
