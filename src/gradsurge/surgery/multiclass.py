"""The rule for C >= 3 classes and hard labels, true class t (the paper's is binary).

F_c = s D p_c (g_c - g_t) for c != t, F_t = -sum of the others, with g = dL/dp and
D = (1 - m^n)(1 - (1-m)^n), m the largest probability. It is the binary rule for C = 2, sums to zero
over the channels, and is the cross-entropy gradient wherever g_c - g_t is one constant.

D must not depend on the label: voxels that cannot be told apart share p, and only a common D leaves
their balance alone. With D of p_t a class with a small share is driven to 0 (docs/theory.md).
"""

import torch
from torch import Tensor

from gradsurge.surgery.decline import decline_factor
from gradsurge.surgery.rule import SurgeryRule


def multiclass_field(
    logits: Tensor,
    truth: Tensor,
    difference: Tensor,
    rule: SurgeryRule | None,
    blend: float,
    extra: Tensor | None = None,
) -> Tensor:
    """Return the field on (N, C, V) ``logits``.

    Args:
        logits: (N, C, V).
        truth: the labels, hard one-hot (N, C, V).
        difference: g_c - g_t at every voxel, (N, C, V).
        rule: the surgery; None for the plain softmax gradient.
        blend: 0 for the plain gradient, 1 for the surgery.
        extra: cross-entropy's weight at every voxel, (N, 1, V): adds extra * (p - y).
    """
    p = torch.softmax(logits, dim=1)
    others = p - p * truth
    if rule is None or blend == 0.0:
        field = torch.zeros_like(p)
    else:
        field = others * difference
        factor = blend * rule.scale
        if rule.decline is None:
            field = field.mul_(factor)
        else:
            field = field.mul_(_decline_of(p, rule.decline).mul_(factor))
    if extra is not None:
        field = field.add_(others * extra)
    field = field.sub_(truth * field.sum(1, keepdim=True))
    if rule is None or blend < 1.0:
        mean = (p * difference).sum(1, keepdim=True)
        plain = (difference - mean).mul_(p)
        # Not add_(alpha=...): torch.compile would compile anew for every value of blend.
        field = field.add_(plain if rule is None else plain.mul_(1.0 - blend))
    return field


def _decline_of(p: Tensor, exponent: float) -> Tensor:
    """Return D at every voxel, (N, 1, V); 1 - m is the sum of the others, never 1 minus m."""
    largest, at = p.max(dim=1, keepdim=True)
    rest = p.scatter(1, at, 0.0).sum(dim=1, keepdim=True)
    return decline_factor(largest * rest, exponent)
