"""One loss at several resolutions."""

import copy
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from gradsurge.losses.voxels import check_number


class DeepSupervision(nn.Module):
    r"""Weighted sum of a loss over the outputs of a decoder, finest first.

    Forward: L = Σ w_i L(z_i, y_i), with w_i proportional to 1/2^i unless given, summing to 1. A
    single full-resolution target is brought to each output's grid by nearest neighbour.

    Backward: that of the loss at each resolution. Every resolution has its own copy of the loss, so
    that the equilibrium is measured on the finest output alone.

    Args:
        loss: a loss of (logits, target).
        levels: number of outputs, or their weights (nnU-Net sets the last one to 0).

    >>> from gradsurge.losses.dice import Dice
    >>> logits = [torch.zeros(1, 2, 4, 4), torch.zeros(1, 2, 2, 2)]
    >>> target = torch.tensor([[[0, 0, 1, 1]] * 4])
    >>> round(DeepSupervision(Dice(), levels=2)(logits, target).item(), 4)
    0.5
    """

    def __init__(self, loss: nn.Module, levels: int | Sequence[float]) -> None:
        super().__init__()
        weights = [0.5**i for i in range(levels)] if isinstance(levels, int) else list(levels)
        if not weights or sum(check_number("levels", w, least=0.0) for w in weights) == 0:
            raise ValueError(f"levels: expected a number >= 1 or weights with a sum > 0: {levels}")
        self.weights = tuple(w / sum(weights) for w in weights)
        self.losses = nn.ModuleList([loss, *(copy.deepcopy(loss) for _ in weights[1:])])

    def forward(
        self, outputs: Tensor | Sequence[Tensor], target: Tensor | Sequence[Tensor]
    ) -> Tensor:
        levels = len(self.weights)
        if isinstance(outputs, Tensor) or len(outputs) != levels:
            came = "one tensor" if isinstance(outputs, Tensor) else f"{len(outputs)} tensors"
            raise ValueError(f"outputs: expected {levels} logit tensors, finest first, got {came}")
        single = isinstance(target, Tensor)
        if not single and len(target) != levels:
            raise ValueError(f"target: expected one tensor or {levels}, got {len(target)}")
        total = outputs[0].new_zeros((), dtype=torch.float32)
        for i, (weight, loss, logits) in enumerate(
            zip(self.weights, self.losses, outputs, strict=True)
        ):
            if weight > 0:
                y = nearest(target, logits.shape[2:]) if isinstance(target, Tensor) else target[i]
                total = total + weight * loss(logits, y)
        return total

    @property
    def loss(self) -> nn.Module:
        """The loss at full resolution: the one to ask for the equilibrium."""
        return self.losses[0]

    @property
    def blend(self) -> float:
        """Share of the surgery at all resolutions, settable while training."""
        return float(getattr(self.loss, "blend", 0.0))

    @blend.setter
    def blend(self, value: float) -> None:
        if not hasattr(self.loss, "blend"):
            raise ValueError(f"blend: {type(self.loss).__name__} has no surgery to blend")
        for loss in self.losses:
            loss.blend = value  # type: ignore[assignment]

    def equilibrium_shift(self) -> Tensor:
        """Return the shift measured at full resolution, shape (C,)."""
        shift: Tensor = self.loss.equilibrium_shift()  # type: ignore[operator]
        return shift


def nearest(target: Tensor, size: Sequence[int]) -> Tensor:
    """Return ``target`` on a coarser grid by picking voxels; no label is invented.

    >>> nearest(torch.tensor([[0, 1, 2, 3]]), (2,)).tolist()
    [[1, 3]]
    """
    first = target.ndim - len(size)
    for axis, length in enumerate(size, start=first):
        old = target.shape[axis]
        if old != length:
            centres = (torch.arange(length, device=target.device) * 2 + 1) * old // (2 * length)
            target = target.index_select(axis, centres)
    return target
