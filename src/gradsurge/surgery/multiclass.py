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
    p: Tensor,
    truth: Tensor,
    difference: Tensor,
    rule: SurgeryRule | None,
    blend: float,
    extra: Tensor | None = None,
) -> Tensor:
    """Return the field on the logits, (N, C, V).

    Args:
        p: softmax of the logits, (N, C, V).
        truth: the labels, hard one-hot (N, C, V).
        difference: g_c - g_t at every voxel, (N, C, V).
        rule: the surgery; None for the plain softmax gradient.
        blend: 0 for the plain gradient, 1 for the surgery.
        extra: cross-entropy's weight at every voxel, (N, 1, V): adds extra * (p - y).
    """
    weights = _weights(p, difference, rule, blend, extra)
    field = None if weights is None else _from_the_others(p, truth, weights)
    if field is not None and rule is not None and blend == 1.0:
        return field
    mean = (p * difference).sum(1, keepdim=True)
    plain = (difference - mean).mul_(p)
    if rule is not None:  # not add_(alpha=...): torch.compile would compile anew for every blend
        plain = plain.mul_(1.0 - blend)
    return plain if field is None else field.add_(plain)


def _weights(
    p: Tensor, difference: Tensor, rule: SurgeryRule | None, blend: float, extra: Tensor | None
) -> Tensor | None:
    """Return what p_c is multiplied by for every class but the true one; None for nothing."""
    if rule is None or blend == 0.0:
        return extra
    if rule.decline is None:
        operated = difference * (blend * rule.scale)
    else:
        operated = difference * _decline_of(p, rule.decline).mul_(blend * rule.scale)
    return operated if extra is None else operated.add_(extra)


def _from_the_others(p: Tensor, truth: Tensor, weights: Tensor) -> Tensor:
    """Return p_c w_c for all classes but the true one, which gets minus their sum."""
    field = torch.addcmul(p, p, truth, value=-1.0).mul_(weights)
    return field.addcmul_(truth, field.sum(1, keepdim=True), value=-1.0)


def _decline_of(p: Tensor, exponent: float) -> Tensor:
    """Return D at every voxel, (N, 1, V); 1 - m is the sum of the others, never 1 minus m.

    Of the largest so far and the next class the smaller joins the others: a fifth of the time that
    finding where the largest is takes.
    """
    largest, *following = p.split(1, dim=1)
    rest = torch.zeros_like(largest)
    for other in following:
        rest = rest.add_(torch.minimum(largest, other))
        largest = torch.maximum(largest, other)
    return decline_factor(rest.mul_(largest), exponent)
