"""What the surgery losses for MONAI share: its conventions for activations and labels."""

from typing import Any

from monai.networks import one_hot
from torch import Tensor, nn
from torch.nn.modules.loss import _Loss

from gradsurge.integrations.monai.ignored_voxels import without_ignored
from gradsurge.losses import Equilibrium
from gradsurge.surgery.rule import Activation
from gradsurge.surgery.targets import check_ignore_index


class MonaiSurgeryLoss(_Loss):
    """A loss of MONAI's whose value is unchanged and whose backward pass is operated on.

    The options of the surgery that a loss of gradsurge has are here too: `blend`, settable while
    training, and what was measured: `equilibrium` and `equilibrium_shift`.

    Args:
        operated: the loss of (logits, labels) that does the work.
        activation: "softmax" or "sigmoid".
        to_onehot_y: labels are class indices (B, 1, ...), not one-hot (B, C, ...).
        reduction: MONAI's word for what becomes of the values of a batch.
        ignore_index: class of voxels that count nowhere; None for none.
    """

    def __init__(
        self,
        operated: nn.Module,
        activation: Activation,
        to_onehot_y: bool,
        reduction: str,
        ignore_index: int | None = None,
    ) -> None:
        super().__init__(reduction=reduction)
        check_ignore_index(ignore_index)
        self.operated: Any = operated
        self.activation, self.to_onehot_y = activation, to_onehot_y
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:  # noqa: A002  # MONAI's names
        self._check_shapes(input, target)
        where = {}
        if self.ignore_index is not None:
            target, where["mask"] = without_ignored(target, self.ignore_index)
        if self.to_onehot_y and self.activation == "sigmoid" and input.shape[1] > 1:
            target = one_hot(target, num_classes=input.shape[1])
        loss: Tensor = self.operated(input, target, **where)
        return loss

    @property
    def blend(self) -> float:
        """Share of the surgery in the gradient, settable while training: 0 plain, 1 surgery."""
        return float(self.operated.blend)

    @blend.setter
    def blend(self, value: float) -> None:
        self.operated.blend = value

    def equilibrium(self) -> Equilibrium:
        """Return the measured rates of the field; `Recalibrated` makes use of them."""
        rates: Equilibrium = self.operated.equilibrium()
        return rates

    def equilibrium_shift(self) -> Tensor:
        """Return by how much each class's logit settles above the posterior's, shape (C,)."""
        return self.equilibrium().shift()

    def _check_shapes(self, logits: Tensor, target: Tensor) -> None:
        batch, channels, *spatial = logits.shape
        if channels == 1 and self.activation == "softmax":
            raise ValueError(
                f"softmax: a softmax needs two channels or more, got input of shape "
                f"{tuple(logits.shape)}; for one channel say sigmoid=True"
            )
        wanted = (batch, 1 if self.to_onehot_y else channels, *spatial)
        if tuple(target.shape) == wanted:
            return
        hint = ""
        if tuple(target.shape) == (batch, 1, *spatial):
            hint = "; for class indices say to_onehot_y=True"
        elif tuple(target.shape) == (batch, channels, *spatial):
            hint = "; for one-hot labels say to_onehot_y=False"
        raise ValueError(
            f"target: with to_onehot_y={self.to_onehot_y} expected shape {wanted}, got "
            f"{tuple(target.shape)}{hint}"
        )


def activation_of(softmax: bool, sigmoid: bool) -> Activation:
    """Return the one activation that was asked for.

    Raises:
        ValueError: for none or both: surgery replaces an activation, so it must know which.
    """
    if softmax == sigmoid:
        raise ValueError(
            f"softmax, sigmoid: expected one of them to be True, got softmax={softmax}, "
            f"sigmoid={sigmoid}; the input must be logits"
        )
    return "softmax" if softmax else "sigmoid"
