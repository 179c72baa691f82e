"""Generalised Dice loss: one score for all classes, rare ones weighted up."""

import torch
from torch import Tensor

from gradsurge.losses.region import RegionLoss


class GeneralisedDice(RegionLoss):
    r"""Generalised Dice loss, with surgery on request.

    Forward: L = 1 - (2 Σ w_c I_c + ε) / (Σ w_c (P_c + Y_c) + ε) per sample, with w_c = 1 / Y_c²;
    a class that is absent gets the largest weight of the present ones.

    Backward: dL/dp_c = -w_c (2 y_c N - (2 Σ w I + ε)) / N², with the denominator N.

    ε is added to sums of order 1 / Y, so the loss fades where structures are large: without any
    foreground predicted it is 1 / (1 + ε Y), that is 0.75 for 32³ voxels and 0.055 for 120³ with
    the default 1e-5, which is MONAI's. For large ones pass a smaller ``smooth``, such as 1e-9.

    Shapes and arguments: see `RegionLoss`. ``class_weights`` multiply w_c.

    Reference: Sudre et al., Generalised Dice overlap, DLMIA 2017.

    >>> import torch
    >>> logits, target = torch.zeros(1, 2, 4), torch.tensor([[0, 0, 1, 1]])
    >>> round(GeneralisedDice()(logits, target).item(), 4)
    0.5
    """

    def from_sums(
        self, intersection: Tensor, predicted: Tensor, target: Tensor, weights: Tensor | None
    ) -> Tensor:
        weight = 1.0 / target.detach().square()
        present = torch.where(weight.isinf(), 0.0, weight)
        largest = present.amax(dim=1, keepdim=True)
        weight = torch.where(weight.isinf(), torch.where(largest > 0, largest, 1.0), weight)
        weight = weight if weights is None else weight * weights
        overlap = 2.0 * (weight * intersection).sum(dim=1, keepdim=True)
        size = (weight * (predicted + target)).sum(dim=1, keepdim=True)
        return 1.0 - (overlap + self.smooth) / (size + self.smooth)
