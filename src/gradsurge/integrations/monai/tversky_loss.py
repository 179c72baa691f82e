"""MONAI's Tversky loss with surgery."""

from typing import Any

from monai.losses import TverskyLoss

from gradsurge.integrations.monai.dice_loss import refuse_other_activation
from gradsurge.integrations.monai.surgery_loss import MonaiSurgeryLoss, activation_of
from gradsurge.losses import Surgery, Tversky
from gradsurge.surgery.rule import DECLINE, NORMALISE, SCALE, Activation, Normalise, SurgeryRule


class SurgeryTverskyLoss(MonaiSurgeryLoss):
    r"""`monai.losses.TverskyLoss` with surgery: the same arguments, the same value.

    Forward: MONAI's. Backward: its dL/dp, brought to the logits by the surgery rule, as in
    `SurgeryDiceLoss`, where the arguments that are not named here are explained.

    Args:
        include_background: count channel 0.
        to_onehot_y: the labels are class indices (B, 1, ...), not one-hot (B, C, ...).
        sigmoid: channels may overlap, or there is only one.
        softmax: channels exclude each other. One of the two must be said.
        alpha: weight of false positives.
        beta: weight of false negatives.
        decline: the exponent n of the surgery's decline, None for none.
        scale: its factor s.
        normalise: whether rare structures pull as hard as large ones, see `gradsurge.Surgery`.
        ignore_index: class of voxels that count nowhere, or another number that marks them, as
            in MONAI 1.6.
        **options: all others of MONAI's TverskyLoss.

    >>> import torch
    >>> loss = SurgeryTverskyLoss(False, to_onehot_y=True, softmax=True, alpha=0.3, beta=0.7)
    >>> logits, labels = torch.zeros(1, 2, 4), torch.tensor([[[0, 0, 0, 1]]])
    >>> round(loss(logits, labels).item(), 4)  # 1 - 0.5 / (0.5 + 0.3 * 1.5 + 0.7 * 0.5)
    0.6154
    """

    def __init__(
        self,
        include_background: bool = True,
        to_onehot_y: bool = False,
        sigmoid: bool = False,
        softmax: bool = False,
        *,
        alpha: float = 0.5,
        beta: float = 0.5,
        decline: float | None = DECLINE,
        scale: float = SCALE,
        normalise: Normalise = NORMALISE,
        ignore_index: int | None = None,
        **options: Any,
    ) -> None:
        activation = activation_of(softmax, sigmoid)
        refuse_other_activation(options)
        rule = SurgeryRule(decline, scale, normalise)
        theirs = TverskyLoss(
            include_background=include_background, alpha=alpha, beta=beta, **options
        )
        operated: Tversky | Surgery
        if _sums_say_it_all(theirs, activation):
            operated = Tversky(
                alpha,
                beta,
                activation=activation,
                smooth=theirs.smooth_nr,
                include_background=include_background,
                surgery=rule,
            )
        else:
            operated = Surgery(theirs, activation, decline, scale, normalise)
        super().__init__(operated, activation, to_onehot_y, theirs.reduction, ignore_index)


def _sums_say_it_all(theirs: TverskyLoss, activation: Activation) -> bool:
    """Whether it is the mean over samples and classes of a function of three sums."""
    usual = theirs.reduction == "mean" and theirs.smooth_nr == theirs.smooth_dr > 0
    counts_channel_0 = theirs.include_background or activation == "softmax"
    return bool(usual and counts_channel_0 and not (theirs.batch or theirs.soft_label))
