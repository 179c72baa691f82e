"""Surgery on any loss of probabilities, MONAI's included."""

from collections.abc import Callable

import torch
from torch import Tensor

from gradsurge.losses.foreign import (
    check_takes_probabilities,
    takes_one_score_a_batch,
    wants_class_indices,
)
from gradsurge.losses.operated import Operated
from gradsurge.losses.options import check_activation
from gradsurge.surgery import targets
from gradsurge.surgery.operator import operate
from gradsurge.surgery.precision import compute_dtype
from gradsurge.surgery.rule import (
    DECLINE,
    NORMALISE,
    SCALE,
    Activation,
    Normalise,
    Operation,
    SurgeryRule,
)


class Surgery(Operated):
    r"""Wrap a loss of (probabilities, one-hot labels) so that its backward pass is operated on.

    Forward: region_loss(softmax(z), y), unchanged.

    Backward: the loss's own dL/dp, brought to the logits by the rule of `surgery_softmax` or
    `surgery_sigmoid` instead of the chain rule.

    Args:
        region_loss: any (probabilities, one_hot) -> scalar: MONAI's DiceLoss, TverskyLoss,
            GeneralizedDiceLoss, or your own. It must not apply a softmax or sigmoid itself.
        activation: "softmax" or "sigmoid".
        decline: the exponent n of the decline, None for none.
        scale: the factor s.
        normalise: whether rare structures pull as hard as large ones, see `surgery_softmax`: True
            for each sample, or over the batch where MONAI's or nnU-Net's loss takes one score over
            it; "batch" says so of a loss of your own. Each process of a distributed training takes
            its own batch.
        ignore_index: label of voxels that count nowhere: their probability and label are passed on
            as 0.
        check: look at label values, for NaN, and for probabilities passed as logits.
        classes: number of classes, only needed to compile the loss before its first use.

    Shapes: logits (N, C, *S); target class indices (N, *S), (N, 1, *S), or one-hot (N, C, *S).

    >>> def dice(p, y):
    ...     return 1 - 2 * (p * y)[:, 1].sum() / (p + y)[:, 1].sum()
    >>> z = torch.tensor([[[0.0, 0.0], [9.0, -9.0]]], requires_grad=True)
    >>> Surgery(dice)(z, torch.tensor([[0, 1]])).backward()  # both voxels certain, and wrong
    >>> abs(z.grad).max().item() > 1e-4  # the plain gradient is 2000 times smaller
    True
    """

    def __init__(
        self,
        region_loss: Callable[[Tensor, Tensor], Tensor],
        activation: Activation = "softmax",
        decline: float | None = DECLINE,
        scale: float = SCALE,
        normalise: Normalise = NORMALISE,
        *,
        ignore_index: int | None = None,
        check: bool = True,
        classes: int = 2,
    ) -> None:
        check_activation(activation, ignore_index)
        check_takes_probabilities(region_loss)
        if normalise is True and takes_one_score_a_batch(region_loss):
            normalise = "batch"
        super().__init__(SurgeryRule(decline, scale, normalise), activation, classes)
        if activation == "sigmoid" and wants_class_indices(region_loss):
            raise ValueError(
                f"region_loss: {type(region_loss).__name__}(to_onehot_y=True) takes class indices, "
                f"but channels of a sigmoid may overlap; build it with to_onehot_y=False"
            )
        self.region_loss = region_loss
        self.ignore_index, self.check = ignore_index, targets.check_flag("check", check)

    def forward(self, logits: Tensor, target: Tensor, mask: Tensor | None = None) -> Tensor:
        targets.check_logits(logits)
        logits, target = targets.plain(logits), targets.plain(target)
        z = logits.to(compute_dtype(logits))
        how = Operation(
            self.activation,
            self.surgery,
            self._blend,
            self.ignore_index,
            self.check,
            refuse_probabilities=self.check,
        )
        p = operate(z, target, how, mask, self.probe)
        labels, kept = self._labels(target, z, mask)
        if wants_class_indices(self.region_loss):
            self._refuse_what_indices_cannot_say(target, z, kept)
            labels = labels.argmax(dim=1, keepdim=True)
        if kept is not None:
            p, labels = p * kept, labels * kept
        loss: Tensor = self.region_loss(p, labels)
        self._check_value(loss)
        return loss

    def _check_value(self, loss: Tensor) -> None:
        """Raise unless the loss is a scalar, or says itself that it is none."""
        shape = getattr(loss, "shape", None)
        if shape != torch.Size([]) and getattr(self.region_loss, "reduction", None) != "none":
            came = type(loss).__name__ if shape is None else f"shape {tuple(shape)}"
            raise ValueError(
                f"region_loss: expected to return a scalar tensor, got {came}; return the mean, or "
                f"build it with reduction='mean'"
            )

    def _labels(
        self, target: Tensor, z: Tensor, mask: Tensor | None
    ) -> tuple[Tensor, Tensor | None]:
        """Return one label a channel, (N, C, *S), and what counts of them."""
        kept = targets.valid_voxels(mask, z, check=False)
        if self.activation == "sigmoid" or targets.is_one_hot_shaped(target, z):
            labels = targets.channel_labels(target, z)
            unlabelled = targets.possible_ignore_index(labels, self.ignore_index)
            ignored = None if unlabelled is None else labels == unlabelled
        else:
            indices = targets.class_indices(target, z).unsqueeze(1)
            unlabelled = targets.possible_ignore_index(indices, self.ignore_index)
            ignored = None if unlabelled is None else indices == unlabelled
            numbers = torch.arange(z.shape[1], device=z.device)
            labels = indices == numbers.view(1, -1, *[1] * (z.ndim - 2))
        if ignored is not None:
            kept = ~ignored if kept is None else kept & ~ignored
        return labels.to(z.dtype), kept

    def _refuse_what_indices_cannot_say(
        self, target: Tensor, z: Tensor, kept: Tensor | None
    ) -> None:
        """Raise if the loss gets class indices, but voxels are left out or labels are soft."""
        if kept is not None or self._may_be_soft(target, z):
            what = "soft labels" if kept is None else "voxels left out by mask or ignore_index"
            raise ValueError(
                f"region_loss: {type(self.region_loss).__name__}(to_onehot_y=True) takes class "
                f"indices, which cannot express {what}. Build it with to_onehot_y=False"
            )

    def _may_be_soft(self, target: Tensor, z: Tensor) -> bool:
        """Whether labels are soft; where values are not looked at, whether they could be."""
        if not (targets.is_one_hot_shaped(target, z) and target.is_floating_point()):
            return False
        if not self.check or torch.compiler.is_compiling():
            return True
        return not bool(((target == 0) | (target == 1)).all())
