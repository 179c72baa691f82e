"""The rule for one logit gap d with p = sigmoid(d): two-class softmax, and every sigmoid channel.

The field is F = w (dL/dp), with w = s e (1 - e^n)(1 - (1-e)^n) in place of p(1-p). Both p and
q = 1-p come from the gap (sigmoid of +d and of -d), so neither is ever a difference of nearly equal
numbers, and a confidently wrong voxel keeps its gradient.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from gradsurge.surgery.decline import half_decline
from gradsurge.surgery.memory import Scratch
from gradsurge.surgery.rule import SurgeryRule

# The NLL of a class that is ruled out, until it is summed up: times 0 it is 0, as infinity is not,
# and 2^40 of them are still a number.
_RULED_OUT = 2.0**80
# A sum beyond it has such a voxel in it, be its soft label as small as 2^-24.
_IMPOSSIBLE = 2.0**56


class Slopes(NamedTuple):
    """What the loss wants at a voxel, each broadcastable to the gap.

    dL/dp is ``at_zero`` where y = 0 and ``at_one`` where y = 1 (in between, on the straight line);
    cross-entropy, if any, weighs the two kinds of voxels with ``nll_at_zero`` and ``nll_at_one``.
    """

    at_zero: Tensor
    at_one: Tensor
    nll_at_zero: Tensor | None = None
    nll_at_one: Tensor | None = None

    def rows(self, rows: slice) -> "Slopes":
        """Return those of some samples."""
        zero, one = self.nll_at_zero, self.nll_at_one
        return Slopes(
            self.at_zero[rows],
            self.at_one[rows],
            None if zero is None else zero[rows],
            None if one is None else one[rows],
        )

    def at(self, y: Tensor) -> Tensor:
        """Return dL/dp for labels ``y``."""
        return (y * (self.at_one - self.at_zero)).add_(self.at_zero)


def binary_field(
    gap: Tensor,
    y: Tensor,
    slopes: Slopes,
    rule: SurgeryRule | None,
    blend: float,
    scratch: Scratch,
    *,
    soft: bool,
    out: Tensor | None = None,
) -> Tensor:
    """Return the field on ``gap``; ``y`` has its shape, ``soft`` allows labels between 0 and 1.

    Without a rule, or with blend 0, it is the ordinary gradient p(1-p) dL/dp. Overwrites ``gap``;
    the result is ``out``, if given, or may be a buffer of ``scratch``.
    """
    p, q = torch.sigmoid(gap, out=scratch.take()), gap.neg_().sigmoid_()
    t = torch.mul(p, q, out=scratch.take())
    nll = None
    if slopes.nll_at_zero is not None and slopes.nll_at_one is not None:
        nll = (p * slopes.nll_at_zero).lerp_(q * -slopes.nll_at_one, y)
    if rule is None or blend == 0.0:
        field = torch.mul(slopes.at(y), t, out=out)
    else:
        strength = blend * rule.scale
        field = _operated(p, q, t, y, slopes, rule, strength, scratch, soft=soft, out=out)
        if blend < 1.0:
            # Not add_(alpha=...): torch.compile would compile anew for every value of blend.
            field.add_(slopes.at(y).mul_(t).mul_(1.0 - blend))
    return field if nll is None else field.add_(nll)


def _operated(
    p: Tensor,
    q: Tensor,
    t: Tensor,
    y: Tensor,
    slopes: Slopes,
    rule: SurgeryRule,
    strength: float,
    scratch: Scratch,
    *,
    soft: bool,
    out: Tensor | None,
) -> Tensor:
    """Return strength e D dL/dp; overwrites p and q."""
    half = rule.decline is not None  # half of D comes cheaper than D
    strength = 2.0 * strength if half else strength
    if soft:
        error, t = _soft_error(p, q, y)
        field = slopes.at(y).mul_(error).mul_(strength)
    else:  # e is p or q, and e(1-e) = p q whichever it is; lerp is exact at 0 and 1
        right = q.mul_(slopes.at_one * strength)
        field = p.mul_(slopes.at_zero * strength).lerp_(right, y)
    if rule.decline is None:
        return field if out is None else out.copy_(field)
    return torch.mul(field, half_decline(t, rule.decline, scratch.take), out=out)


def _soft_error(p: Tensor, q: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Return e = abs(y - p) and e(1-e), both without cancellation for y in {0, 1}."""
    error = (y * q).sub_((1.0 - y).mul_(p)).abs_()
    rest = torch.where(y > p, (1.0 - y).add_(p), q + y)
    return error, rest.mul_(error)


def binary_nll_sums(
    gap: Tensor, y: Tensor, valid: Tensor | None, *, soft: bool
) -> tuple[Tensor, Tensor]:
    """Return the sums over the last axis of -(1-y) log(1-p) and of -y log p, over valid voxels.

    They are infinite where a class that occurs is ruled out by a gap of 2^56 or more.
    """
    if soft:
        at_zero, at_one = _softplus(gap).mul_(1.0 - y), _softplus(-gap).mul_(y)
        if valid is not None:
            at_zero, at_one = at_zero.mul_(valid), at_one.mul_(valid)
        return _or_infinite(at_zero.sum(-1)), _or_infinite(at_one.sum(-1))
    nll = _softplus((y * -2.0).add_(1.0).mul_(gap))
    nll = nll if valid is None else nll.mul_(valid)
    total = nll.sum(-1)
    at_one_sum = nll.mul_(y).sum(-1)
    return _or_infinite(total - at_one_sum), _or_infinite(at_one_sum)


def _or_infinite(nll: Tensor) -> Tensor:
    return nll.masked_fill(nll > _IMPOSSIBLE, torch.inf)


def _softplus(x: Tensor) -> Tensor:
    """Return log(1 + exp(x)) to full relative precision on both sides, _RULED_OUT for infinity."""
    return x.clamp(0.0, _RULED_OUT).add_(x.abs().neg_().exp_().log1p_())
