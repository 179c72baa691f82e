"""Jaccard loss."""

from torch import Tensor

from gradsurge.losses.region import RegionLoss


class Jaccard(RegionLoss):
    r"""Soft Jaccard (intersection over union) loss, with surgery on request.

    Forward: L = 1 - (I + ε) / (P + Y - I + ε).

    Backward, with the union U: dL/dp = -1 / U on foreground and J / U on background, J the score,
    up to ε. At equilibrium their ratio is 1 / J.

    Shapes and arguments: see `RegionLoss`.

    Reference: Rahman and Wang, Optimizing intersection-over-union in deep neural networks, 2016.

    >>> import torch
    >>> logits, target = torch.zeros(1, 2, 4), torch.tensor([[0, 0, 1, 1]])
    >>> round(Jaccard()(logits, target).item(), 4)  # 1 - 1 / 3
    0.6667
    """

    def from_sums(
        self, intersection: Tensor, predicted: Tensor, target: Tensor, weights: Tensor | None
    ) -> Tensor:
        union = predicted + target - intersection
        return 1.0 - (intersection + self.smooth) / (union + self.smooth)
