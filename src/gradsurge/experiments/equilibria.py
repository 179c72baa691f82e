"""Let a loss bring voxels to rest that no network could tell apart.

A set of such voxels shares one free logit, and a fraction r of them is foreground. Whatever
probability a loss settles on there is all it will ever say about r: cross-entropy says r, Dice says
0 or 1, Dice with surgery says r shifted in the logit by a known amount (docs/theory.md).
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from gradsurge.losses import RegionLoss, WithCrossEntropy, make_loss

STEPS = 600  # then the running mean behind the shift has forgotten the first steps
VOXELS = 50  # of a set: enough to write every ratio of RATIOS exactly
RATIOS = tuple(k / VOXELS for k in range(1, VOXELS, 2))  # 0.02, 0.06, ..., 0.98
COMPARED = ("ce", "dice", "dice-surgery")


class Settled(NamedTuple):
    """K sets of voxels at rest under one loss.

    ``counts`` (K, C) are the voxels of each class in each set, ``logits`` (K, C) what the sets
    settled on, ``loss`` the final value, ``shift`` (C,) the loss's `equilibrium_shift`, zero for a
    loss without surgery.
    """

    counts: Tensor
    logits: Tensor
    loss: float
    shift: Tensor

    @property
    def ratios(self) -> Tensor:
        """The true share of each class, (K, C)."""
        return self.counts / self.counts.sum(dim=1, keepdim=True).double()

    @property
    def probabilities(self) -> Tensor:
        """What the loss settled on, (K, C)."""
        return self.logits.softmax(dim=1)

    @property
    def corrected(self) -> Tensor:
        """The same after the closed-form correction, (K, C)."""
        return (self.logits - self.shift).softmax(dim=1)


class Comparison(NamedTuple):
    """The same sets under several losses, by name; ratios r (K,) of foreground voxels."""

    ratios: Tensor
    settled: dict[str, Settled]

    def columns(self) -> dict[str, Tensor]:
        """Return the final foreground probability (K,) of each loss, and of the correction."""
        found = {name: s.probabilities[:, 1] for name, s in self.settled.items()}
        return found | {"corrected": self.settled["dice-surgery"].corrected[:, 1]}

    def errors(self) -> dict[str, float]:
        """Return the mean distance of each column from the ratios."""
        return {n: float((p - self.ratios).abs().mean()) for n, p in self.columns().items()}


def settle(
    loss: nn.Module,
    counts: Tensor,
    *,
    steps: int = STEPS,
    on_step: Callable[[], object] | None = None,
) -> Settled:
    """Descend the loss over one free logit vector a set until the sets are at rest.

    Rprop looks at the sign of each set's pull alone, so a set comes to rest where its pull changes
    sign, however weak the pull is: no step size to tune, the same for every loss.

    Args:
        loss: any loss(logits, target) -> scalar.
        counts: voxels of each class in each set, (K, C), the same number of voxels in each set.
        steps: how many.
        on_step: called after each step.

    >>> settle(make_loss("ce"), torch.tensor([[3, 1]]), steps=100).probabilities[0, 1].item()
    0.25000
    """
    sets, classes = counts.shape
    voxels = int(counts[0].sum())
    target = torch.arange(classes).repeat(sets).repeat_interleave(counts.flatten()).unsqueeze(0)
    logits = torch.zeros(sets, classes, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.Rprop([logits], lr=0.1, step_sizes=(1e-12, 0.2))
    value = torch.zeros(())
    for _ in range(steps):
        optimiser.zero_grad()
        value = loss(logits.repeat_interleave(voxels, dim=0).T.unsqueeze(0), target)
        value.backward()
        optimiser.step()
        if on_step is not None:
            on_step()
    return Settled(counts, logits.detach(), value.item(), _shift(loss, classes))


def compare(on_step: Callable[[], object] | None = None, steps: int = STEPS) -> Comparison:
    """Settle sets of every ratio in RATIOS under each of the losses COMPARED."""
    ratios = torch.tensor(RATIOS, dtype=torch.float64)
    foreground = (ratios * VOXELS).round().long()
    counts = torch.stack((VOXELS - foreground, foreground), dim=1)
    losses = {name: make_loss(name, paper=True) for name in COMPARED}
    settled = {n: settle(loss, counts, steps=steps, on_step=on_step) for n, loss in losses.items()}
    return Comparison(ratios, settled)


def _shift(loss: nn.Module, classes: int) -> Tensor:
    if isinstance(loss, RegionLoss | WithCrossEntropy) and loss.blend > 0.0:
        return loss.equilibrium_shift()
    return torch.zeros(classes, dtype=torch.float64)
