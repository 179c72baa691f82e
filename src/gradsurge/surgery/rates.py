"""What the field is made of, summed over voxels: the rates that a surgery loss measures.

For K separate problems of L labels each (softmax: 1 problem of C labels; sigmoid: C problems of 2)
a (K, L, 2 L + 1) tensor. Row t holds sums over the voxels with true label t:

- for each c, p_c times the pull of the region loss away from c: scale * (g_c - g_t),
- cross-entropy's weight times e, the sum of p_c over the other labels,
- for each c but t, p_c: what the sums before are to be divided by.

Voxels are weighed by p_c because samples differ: each has its own g. What matters is the pull where
the network is in doubt. Voxels that it cannot tell apart, n of them, shares r_t and r_c of labels t
and c, enter row t with n r_t p_c and row c with n r_c p_t: both about n r_t r_c. So the two means
that are compared are means over about the same voxels. Plain means would compare the foreground's
pull in samples with large structures to the background's in samples with none.

All of this is about voxels that have one label each. Soft labels are only marked as such, by
infinite sums of p (`marked_if_soft`).
"""

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor

from gradsurge.surgery.labels import Labels


def region_rates(
    slopes: Tensor, sums: Tensor, confusion: Tensor | None, strength: float, *, sigmoid: bool
) -> Tensor:
    """Return the rates of a region loss, where all voxels of a sample and label have the same g.

    Args:
        slopes: dL/dI, dL/dP and dL/dNLL, (3, N, C).
        sums: I, P and Y, (3, N, C).
        confusion: sums of p_c over the voxels of label t, (N, t, c); None for two classes and for
            channels, where they follow from the sums.
        strength: scale of the surgery times its share in the gradient.
        sigmoid: whether each channel is a problem of its own.
    """
    slope_i, slope_p, slope_nll = slopes
    if confusion is None:
        predicted, target = sums[1:] - sums[0]  # of false positives and of what is missed
        confusion = _off_diagonal(predicted, target)
        confusion = confusion if sigmoid else confusion[:, 1]
    if sigmoid:
        pull = _off_diagonal(slope_p, -(slope_p + slope_i))  # (N, C, 2, 2)
        return _stack(pull * strength, slope_nll.unsqueeze(-1), confusion)
    pull = slope_p.unsqueeze(1) - (slope_p + slope_i).unsqueeze(2)  # (N, t, c)
    return _stack(pull * strength, slope_nll, confusion).unsqueeze(0)


def binary_rates(gap: Tensor, coupling: Tensor, y: Tensor, valid: Tensor | None) -> Tensor:
    """Return the rates (..., 2, 5) of (..., V) voxels with dL/dp ``coupling`` and hard labels."""
    inside = y > 0.5
    error = torch.where(inside, -gap, gap).sigmoid_()
    if valid is not None:
        error.mul_(valid)
    false_positive, missed = error * ~inside, error.mul_(inside)
    doubt = _off_diagonal(false_positive.sum(-1), missed.sum(-1))
    pulled = false_positive.mul_(coupling).sum(-1), missed.mul_(coupling).sum(-1)
    pull = _off_diagonal(pulled[0], -pulled[1])
    return torch.cat((pull, torch.zeros_like(pull[..., :1]), doubt), dim=-1)


def marked_if_soft(rates: Tensor, labels: Labels) -> Tensor:
    """Return the rates, with infinite sums of p if a label lies strictly between 0 and 1.

    A mark in the numbers, not an error: the field is fine, and no device is waited for.
    """
    if labels.soft:
        rates[..., rates.shape[1] + 1 :].masked_fill_(labels.between(), torch.inf)
    return rates


def multiclass_rates(p: Tensor, truth: Tensor, difference: Tensor) -> Tensor:
    """Return the rates (C, 2 C + 1) of (N, C, V) voxels with g_c - g_t ``difference``."""
    pull, doubt = confusion_sums(p * difference, truth).sum(0), confusion_sums(p, truth).sum(0)
    return torch.cat((pull, torch.zeros_like(pull[:, :1]), doubt), dim=-1)


def confusion_sums(p: Tensor, truth: Tensor) -> Tensor:
    """Return the sums of p_c over the voxels of label t, (N, t, c), without those of c = t."""
    with _no_autocast(p.device.type):  # sums over a million voxels do not fit into halves
        sums = truth @ p.transpose(1, 2)
    return sums.masked_fill(torch.eye(p.shape[1], dtype=torch.bool, device=p.device), 0.0)


def _no_autocast(device: str) -> AbstractContextManager[object]:
    if torch.amp.is_autocast_available(device):
        return torch.autocast(device, enabled=False)
    return nullcontext()


def _stack(pull: Tensor, nll: Tensor, doubt: Tensor) -> Tensor:
    """Return rates of (N, ..., L, L) pulls and doubts, summed over samples."""
    of_nll = (nll * doubt.sum(dim=-1)).unsqueeze(-1)
    return torch.cat((pull * doubt, of_nll, doubt), dim=-1).sum(dim=0)


def _off_diagonal(upper: Tensor, lower: Tensor) -> Tensor:
    """Return ((0, upper), (lower, 0)) as the last two axes."""
    zero = torch.zeros_like(upper)
    rows = (zero, upper), (lower, zero)
    return torch.stack([torch.stack(row, dim=-1) for row in rows], dim=-2)
