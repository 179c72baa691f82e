"""MONAI's Dice plus cross-entropy with surgery on the Dice part."""

from typing import Any

from monai.losses import DiceCELoss
from torch import Tensor, nn

from gradsurge.integrations.monai.dice_loss import (
    fused_dice,
    refuse_other_activation,
    sums_say_it_all,
)
from gradsurge.integrations.monai.surgery_loss import MonaiSurgeryLoss, activation_of
from gradsurge.losses import Equilibrium, Surgery, WithCrossEntropy
from gradsurge.surgery.rule import DECLINE, NORMALISE, SCALE, Activation, Normalise, SurgeryRule


class SurgeryDiceCELoss(MonaiSurgeryLoss):
    r"""`monai.losses.DiceCELoss` with surgery on its Dice: the same arguments, the same value.

    Forward: λ_dice Dice + λ_ce CE, as MONAI has it. Backward: cross-entropy keeps its ordinary
    gradient, Dice gets that of `SurgeryDiceLoss`.

    Sigmoid is for one channel. Of several, MONAI's DiceCELoss takes a sigmoid Dice and a softmax
    cross-entropy, which contradict each other; `gradsurge.make_loss("ce+dice-surgery",
    activation="sigmoid")` has binary cross-entropy for each channel.

    Args:
        include_background: count channel 0 in the Dice part.
        to_onehot_y: the labels are class indices (B, 1, ...), not one-hot (B, C, ...).
        sigmoid: there is one channel.
        softmax: channels exclude each other. One of the two must be said.
        decline: the exponent n of the surgery's decline, None for none.
        scale: its factor s.
        normalise: whether rare structures pull as hard as large ones, see `gradsurge.Surgery`.
        **options: all others of MONAI's DiceCELoss, such as lambda_dice, lambda_ce and weight.

    >>> import torch
    >>> loss = SurgeryDiceCELoss(to_onehot_y=True, softmax=True)
    >>> logits, labels = torch.zeros(1, 2, 4), torch.tensor([[[0, 0, 1, 1]]])
    >>> round(loss(logits, labels).item(), 4)  # 0.5 + log 2
    1.1931
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
        **options: Any,
    ) -> None:
        activation = activation_of(softmax, sigmoid)
        refuse_other_activation(options)
        rule = SurgeryRule(decline, scale, normalise)
        theirs = DiceCELoss(include_background=include_background, **options)
        operated: WithCrossEntropy | _MonaiSum
        if sums_say_it_all(theirs.dice, activation) and not theirs.cross_entropy.label_smoothing:
            region = fused_dice(theirs.dice, activation, rule)
            operated = WithCrossEntropy(region, (theirs.lambda_ce, theirs.lambda_dice))
        else:
            operated = _MonaiSum(theirs, activation, rule)
        super().__init__(operated, activation, to_onehot_y, theirs.dice.reduction)

    def _check_shapes(self, logits: Tensor, target: Tensor) -> None:
        super()._check_shapes(logits, target)
        if self.activation == "sigmoid" and logits.shape[1] > 1:
            raise ValueError(
                f"sigmoid: for {logits.shape[1]} channels MONAI's DiceCELoss adds a softmax "
                f"cross-entropy to a sigmoid Dice; use gradsurge.make_loss('ce+dice-surgery', "
                f"activation='sigmoid'), or softmax=True if the classes exclude each other"
            )


class _MonaiSum(nn.Module):
    """MONAI's two terms one by one, for options that the fused pass does not have."""

    def __init__(self, theirs: DiceCELoss, activation: Activation, rule: SurgeryRule) -> None:
        super().__init__()
        self.theirs = theirs
        self.surgery = Surgery(theirs.dice, activation, rule.decline, rule.scale, rule.normalise)

    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        dice = self.surgery(logits, target)
        ce = self.theirs.ce if logits.shape[1] > 1 else self.theirs.bce
        loss: Tensor = self.theirs.lambda_dice * dice + self.theirs.lambda_ce * ce(logits, target)
        return loss

    @property
    def blend(self) -> float:
        """Share of the surgery in the gradient of the Dice part."""
        return self.surgery.blend

    @blend.setter
    def blend(self, value: float) -> None:
        self.surgery.blend = value

    def equilibrium(self) -> Equilibrium:
        """Raise: the two terms come to rest together, and only Dice's field was measured."""
        raise ValueError(
            "equilibrium: it is measured for Dice plus cross-entropy without weight, batch, "
            "squared_pred, jaccard, label_smoothing and with reduction='mean'; fit a "
            "recalibration on validation cases instead (gradsurge recalibrate fit)"
        )
