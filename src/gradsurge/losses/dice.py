"""Dice loss."""

from torch import Tensor

from gradsurge.losses.region import RegionLoss


class Dice(RegionLoss):
    r"""Soft Dice loss, with surgery on request.

    Forward: L = 1 - (2 I + ε) / (P + Y + ε), with I, P, Y the sums of p y, p and y.

    Backward: dL/dp = -(2 y (P + Y + ε) - (2 I + ε)) / (P + Y + ε)²: negative on foreground,
    positive on background (the paper's equations leave out the minus of 1 - DSC). At equilibrium
    the ratio of the two is (2 - D) / D for a soft score D.

    Shapes and arguments: see `RegionLoss`.

    Reference: Milletari et al., V-Net, 3DV 2016.

    >>> import torch
    >>> logits, target = torch.zeros(1, 2, 4), torch.tensor([[0, 0, 1, 1]])
    >>> round(Dice()(logits, target).item(), 4)  # p = 0.5: 1 - 2 / 4
    0.5
    """

    def from_sums(
        self, intersection: Tensor, predicted: Tensor, target: Tensor, weights: Tensor | None
    ) -> Tensor:
        score = (2.0 * intersection + self.smooth) / (predicted + target + self.smooth)
        return 1.0 - score
