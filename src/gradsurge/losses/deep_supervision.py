"""One loss at several resolutions."""

import copy
from collections.abc import Sequence
from numbers import Integral

import torch
from torch import Tensor, nn

from gradsurge.losses.equilibrium import Equilibrium
from gradsurge.losses.mask_argument import refuse_mask, takes_mask
from gradsurge.losses.options import check_number


class DeepSupervision(nn.Module):
    r"""Weighted sum of a loss over the outputs of a decoder, finest first.

    Forward: L = Σ w_i L(z_i, y_i), with w_i proportional to 1/2^i unless given, summing to 1. A
    single target (and mask) has the finest output's grid and is brought to the coarser ones by
    nearest neighbour.

    Backward: that of the loss at each resolution. Every resolution has its own copy of the loss, so
    that the equilibrium is measured on the finest output alone.

    Args:
        loss: a loss of (logits, target).
        levels: number of outputs, or their weights, the finest's > 0 (nnU-Net sets the last one
            to 0).

    >>> from gradsurge.losses.dice import Dice
    >>> logits = [torch.zeros(1, 2, 4, 4), torch.zeros(1, 2, 2, 2)]
    >>> target = torch.tensor([[[0, 0, 1, 1]] * 4])
    >>> round(DeepSupervision(Dice(), levels=2)(logits, target).item(), 4)
    0.5
    """

    def __init__(self, loss: nn.Module, levels: int | Sequence[float]) -> None:
        super().__init__()
        weights = _level_weights(levels)
        self.weights = tuple(w / sum(weights) for w in weights)
        self.losses = nn.ModuleList([loss, *(copy.deepcopy(loss) for _ in weights[1:])])
        self._takes_mask = takes_mask(loss)

    def forward(
        self,
        outputs: Tensor | Sequence[Tensor],
        target: Tensor | Sequence[Tensor],
        mask: Tensor | Sequence[Tensor] | None = None,
    ) -> Tensor:
        levels = len(self.weights)
        _check_outputs(outputs, self.weights)
        if mask is not None and not self._takes_mask:
            refuse_mask(self.loss)
        _check_one_or_each("target", target, levels)
        if mask is not None:
            _check_one_or_each("mask", mask, levels)
        total = outputs[0].new_zeros((), dtype=torch.float32)
        for i, (weight, loss, logits) in enumerate(
            zip(self.weights, self.losses, outputs, strict=True)
        ):
            if weight > 0:
                options = {} if mask is None else {"mask": _at_level(i, mask, logits)}
                total = total + weight * loss(logits, _at_level(i, target, logits), **options)
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

    def equilibrium(self) -> Equilibrium:
        """Return the rates of the field measured at full resolution."""
        rates: Equilibrium = self.loss.equilibrium()  # type: ignore[operator]
        return rates

    def equilibrium_shift(self) -> Tensor:
        """Return the shift measured at full resolution, shape (C,)."""
        shift: Tensor = self.loss.equilibrium_shift()  # type: ignore[operator]
        return shift


def _level_weights(levels: int | Sequence[float]) -> list[float]:
    if isinstance(levels, Integral) and not isinstance(levels, bool):
        weights = [0.5**i for i in range(int(levels))]
    elif isinstance(levels, Sequence):
        weights = [check_number("levels", w, least=0.0) for w in levels]
    else:
        raise TypeError(f"levels: expected a whole number >= 1 or weights, got {levels!r}")
    if not weights or weights[0] == 0:
        raise ValueError(
            f"levels: expected a whole number >= 1, or weights of which the first, the finest "
            f"output's, is > 0; got {levels!r}"
        )
    return weights


def _check_outputs(outputs: Tensor | Sequence[Tensor], weights: Sequence[float]) -> None:
    expected = f"outputs: expected {len(weights)} logit tensors, finest first"
    if isinstance(outputs, Tensor):
        raise ValueError(f"{expected}, got one tensor")
    if not isinstance(outputs, Sequence):
        raise TypeError(f"{expected}, got {type(outputs).__name__}")
    if len(outputs) != len(weights):
        raise ValueError(f"{expected}, got {len(outputs)} tensors")
    for level, (weight, logits) in enumerate(zip(weights, outputs, strict=True)):
        if weight > 0 and not isinstance(logits, Tensor):
            raise TypeError(f"{expected}, got {type(logits).__name__} as output {level}")


def _check_one_or_each(name: str, given: Tensor | Sequence[Tensor], levels: int) -> None:
    if isinstance(given, Tensor):
        return
    if not isinstance(given, Sequence):
        raise TypeError(f"{name}: expected a tensor or a list of them, got {type(given).__name__}")
    if len(given) != levels:
        raise ValueError(f"{name}: expected one tensor or {levels}, got {len(given)}")


def _at_level(level: int, given: Tensor | Sequence[Tensor], logits: Tensor) -> Tensor:
    """Return the target (mask) of a level; the finest as it came, for the loss to check."""
    if not isinstance(given, Tensor):
        return given[level]
    return given if level == 0 else nearest(given, logits.shape[2:])


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
