"""surgery_sigmoid: sigmoid going forward, the operated field going back, channel by channel."""

from torch import Tensor

from gradsurge.surgery.operator import operate
from gradsurge.surgery.rule import (
    DECLINE,
    NORMALISE,
    SCALE,
    Normalise,
    Operation,
    SurgeryRule,
    check_blend,
)
from gradsurge.surgery.targets import check_flag


def surgery_sigmoid(
    logits: Tensor,
    target: Tensor,
    decline: float | None = DECLINE,
    scale: float = SCALE,
    normalise: Normalise = NORMALISE,
    mask: Tensor | None = None,
    *,
    blend: float = 1.0,
    check: bool = True,
) -> Tensor:
    """Sigmoid of each channel whose backward pass scales with the error instead of p(1-p).

    Forward: p = sigmoid(z).

    Backward, with g = dL/dp and e = abs(y - p): F = s e (1 - e^n)(1 - (1-e)^n) g. Normalised, g of
    each sample and channel is first multiplied with κ = (P + Y) / (2 Y).

    Args:
        logits: z, (N, C, *S), one to three spatial axes; channels may overlap (multi-label).
        target: y in [0, 1], hard or soft, shape of ``logits``; (N, *S) where C = 1.
        decline: the exponent n > 0; None leaves both decline factors out.
        scale: the factor s.
        normalise: whether rare structures pull as hard as large ones: κ, of each sample, or with
            "batch" of the whole batch, for losses that take one score over it.
        mask: non-zero where a voxel counts, (N, *S), (N, 1, *S) or (N, C, *S); elsewhere no
            gradient, whatever the loss says.
        blend: share of the surgery; the rest is the plain sigmoid gradient.
        check: look at label values and for NaN (one reduction each).

    Reference: Lux et al., Beyond scalar losses, MIDL 2026.

    >>> import torch
    >>> z = torch.zeros(1, 1, 1, requires_grad=True)
    >>> p = surgery_sigmoid(z, torch.ones(1, 1, 1), decline=None, scale=0.25, normalise=False)
    >>> p.sum().backward()
    >>> z.grad.item()  # 0.25 * 0.5, where the plain gradient is 0.5 * 0.5
    0.125
    """
    rule, checked = SurgeryRule(decline, scale, normalise), check_flag("check", check)
    how = Operation("sigmoid", rule, check_blend(blend), check=checked)
    return operate(logits, target, how, mask)
