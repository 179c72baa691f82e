"""The rule for one logit gap d with p = sigmoid(d): two-class softmax, and every sigmoid channel.

The field is F = w (dL/dp), with w = s e (1 - e^n)(1 - (1-e)^n) in place of p(1-p). Both e and 1-e
come from the gap (sigmoid of +d and of -d), so neither is ever a difference of nearly equal
numbers, and a confidently wrong voxel keeps its gradient.
"""

import torch
from torch import Tensor

from gradsurge.surgery.decline import decline_factor
from gradsurge.surgery.rule import SurgeryRule


def binary_weight(
    gap: Tensor, y: Tensor, rule: SurgeryRule | None, blend: float, *, soft: bool
) -> tuple[Tensor, Tensor]:
    """Return what stands for p(1-p), and the error e = abs(y - p).

    ``gap`` and ``y`` have one shape; ``soft`` allows y strictly between 0 and 1. Without a rule, or
    with blend 0, the weight is p(1-p) itself.
    """
    error, small = _soft_error(gap, y) if soft else _hard_error(gap, y)
    if rule is None or blend == 0.0:
        return _slope(gap), error
    weight = error * (blend * rule.scale)
    if rule.decline is not None:
        weight = weight.mul_(decline_factor(small, rule.decline))
    if blend < 1.0:
        weight = weight.add_(_slope(gap), alpha=1.0 - blend)
    return weight, error


def _hard_error(gap: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Return e and the smaller one of e and 1 - e: sigmoid(d) or sigmoid(-d)."""
    signed = _away_from_label(gap, y)
    return signed.sigmoid(), signed.abs_().neg_().sigmoid_()


def _soft_error(gap: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Return e and the smaller one of e and 1 - e, each a sum of positive terms."""
    p, q = gap.sigmoid(), gap.neg().sigmoid_()
    error = (y * q).sub_((1.0 - y).mul_(p)).abs_()
    rest = torch.where(y > p, (1.0 - y).add_(p), q.add_(y))
    return error, torch.minimum(error, rest)


def _slope(gap: Tensor) -> Tensor:
    return gap.sigmoid().mul_(gap.neg().sigmoid_())


def _away_from_label(gap: Tensor, y: Tensor) -> Tensor:
    """Return the gap with the sign that makes its sigmoid the error."""
    return (y * -2.0).add_(1.0).mul_(gap)


def positive_and_negative_nll(
    gap: Tensor, y: Tensor, valid: Tensor | None, *, soft: bool
) -> tuple[Tensor, Tensor]:
    """Return the sums over the last axis of -y log p and of -(1-y) log(1-p)."""
    if soft:
        positive, negative = _softplus(-gap).mul_(y), _softplus(gap).mul_(1.0 - y)
        negative = negative if valid is None else negative.mul_(valid)
        return positive.sum(-1), negative.sum(-1)
    nll = _softplus(_away_from_label(gap, y))
    nll = nll if valid is None else nll.mul_(valid)
    total = nll.sum(-1)
    positive_sum = nll.mul_(y).sum(-1)
    return positive_sum, total - positive_sum


def _softplus(x: Tensor) -> Tensor:
    """Return log(1 + exp(x)) to full relative precision on both sides."""
    return x.clamp_min(0.0).add_(x.abs().neg_().exp_().log1p_())
