"""MONAI's Dice loss with surgery."""

from typing import Any

from monai.losses import DiceLoss

from gradsurge.integrations.monai.surgery_loss import MonaiSurgeryLoss, activation_of
from gradsurge.losses import Dice, Surgery
from gradsurge.surgery.rule import DECLINE, NORMALISE, SCALE, Activation, Normalise, SurgeryRule


class SurgeryDiceLoss(MonaiSurgeryLoss):
    r"""`monai.losses.DiceLoss` with surgery: the same arguments, the same value.

    Forward: MONAI's. Backward: its dL/dp, brought to the logits by the surgery rule in place of
    the chain rule, see `gradsurge.surgery_softmax`.

    The usual options run in gradsurge's fused pass; with others (``weight``, ``squared_pred``,
    ``jaccard``, ``batch``, ``reduction="sum"``, ...) MONAI's own loss is computed of operated
    probabilities, which is as exact and takes longer.

    Args:
        include_background: count channel 0.
        to_onehot_y: the labels are class indices (B, 1, ...), not one-hot (B, C, ...).
        sigmoid: channels may overlap, or there is only one.
        softmax: channels exclude each other. One of the two must be said.
        decline: the exponent n of the surgery's decline, None for none.
        scale: its factor s.
        normalise: whether rare structures pull as hard as large ones, see `gradsurge.Surgery`.
        ignore_index: class of voxels that count nowhere, or another number that marks them, as
            in MONAI 1.6.
        **options: all others of MONAI's DiceLoss.

    >>> import torch
    >>> loss = SurgeryDiceLoss(to_onehot_y=True, softmax=True)
    >>> logits, labels = torch.zeros(1, 2, 4), torch.tensor([[[0, 0, 1, 1]]])
    >>> round(loss(logits, labels).item(), 4)
    0.5
    """

    def __init__(
        self,
        include_background: bool = True,
        to_onehot_y: bool = False,
        sigmoid: bool = False,
        softmax: bool = False,
        *,
        decline: float | None = DECLINE,
        scale: float = SCALE,
        normalise: Normalise = NORMALISE,
        ignore_index: int | None = None,
        **options: Any,
    ) -> None:
        activation = activation_of(softmax, sigmoid)
        refuse_other_activation(options)
        rule = SurgeryRule(decline, scale, normalise)
        theirs = DiceLoss(include_background=include_background, **options)
        operated: Dice | Surgery
        if sums_say_it_all(theirs, activation):
            operated = fused_dice(theirs, activation, rule)
        else:
            operated = Surgery(theirs, activation, decline, scale, normalise)
        super().__init__(operated, activation, to_onehot_y, theirs.reduction, ignore_index)


def refuse_other_activation(options: dict[str, Any]) -> None:
    """Raise if ``other_act`` is given: there is no surgery for it."""
    if options.get("other_act") is not None:
        raise ValueError(
            f"other_act: surgery knows softmax and sigmoid, got {options['other_act']!r}"
        )


def sums_say_it_all(theirs: DiceLoss, activation: Activation) -> bool:
    """Whether MONAI's Dice is the mean over samples and classes of a function of three sums."""
    usual = theirs.reduction == "mean" and theirs.smooth_nr == theirs.smooth_dr > 0
    unusual = theirs.squared_pred or theirs.jaccard or theirs.batch or theirs.soft_label
    counts_channel_0 = theirs.include_background or activation == "softmax"
    return bool(usual and not unusual and theirs.class_weight is None and counts_channel_0)


def fused_dice(theirs: DiceLoss, activation: Activation, rule: SurgeryRule) -> Dice:
    """Return gradsurge's Dice with the options of MONAI's."""
    return Dice(
        activation=activation,
        smooth=theirs.smooth_nr,
        include_background=theirs.include_background,
        surgery=rule,
    )
