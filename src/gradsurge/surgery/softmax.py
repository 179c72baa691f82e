"""surgery_softmax: softmax going forward, the operated field going back."""

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
from gradsurge.surgery.targets import check_flag, check_ignore_index


def surgery_softmax(
    logits: Tensor,
    target: Tensor,
    decline: float | None = DECLINE,
    scale: float = SCALE,
    normalise: Normalise = NORMALISE,
    ignore_index: int | None = None,
    *,
    mask: Tensor | None = None,
    blend: float = 1.0,
    check: bool = True,
) -> Tensor:
    """Softmax over the classes whose backward pass scales with the error instead of p(1-p).

    Forward: p = softmax(z) over axis 1.

    Backward, with g = dL/dp, true class t, and D = (1 - m^n)(1 - (1-m)^n), m the largest p:
    F_c = s D p_c (g_c - g_t) for c != t, and F_t = -sum of the others. For two classes that is the
    paper's F_fg = s e D (g_fg - g_bg), which also takes soft labels, e = abs(y - p). Normalised, g
    of each sample and foreground class is first multiplied with κ = (P + Y) / (2 Y).

    Args:
        logits: z, (N, C, *S), C >= 2, one to three spatial axes.
        target: class indices (N, *S) or (N, 1, *S), or one-hot (N, C, *S); for C = 2 one-hot labels
            may be soft.
        decline: the exponent n > 0; None leaves D out.
        scale: the factor s.
        normalise: whether rare structures pull as hard as large ones: κ, of each sample, or with
            "batch" of the whole batch, for losses that take one score over it.
        ignore_index: class index of voxels that get no gradient, whatever the loss says.
        mask: voxels that count, (N, *S) or (N, 1, *S), non-zero where they do.
        blend: share of the surgery; the rest is the plain softmax gradient.
        check: look at label values and for NaN (one reduction each).

    Reference: Lux et al., Beyond scalar losses, MIDL 2026; C > 2 is ours (docs/theory.md).

    >>> import torch
    >>> z = torch.tensor([[[0.0], [40.0]]], requires_grad=True)  # certain, and wrong
    >>> p = surgery_softmax(z, torch.tensor([[0]]), decline=None, scale=0.5)
    >>> p[0, 1].sum().backward()
    >>> z.grad.flatten().tolist()
    [-0.5, 0.5]
    """
    check_ignore_index(ignore_index)
    rule = SurgeryRule(decline, scale, normalise)
    checked = check_flag("check", check)
    how = Operation("softmax", rule, check_blend(blend), ignore_index, check=checked)
    return operate(logits, target, how, mask)
