"""The sum of two losses, each with its weight."""

from torch import Tensor, nn

from gradsurge.losses.mask_argument import refuse_mask, takes_mask
from gradsurge.losses.with_cross_entropy import check_two_weights


class WeightedSum(nn.Module):
    r"""λ_1 L_1 + λ_2 L_2, such as SVLS + Dice.

    Forward and backward: the weighted sums of those of the two losses. A ``mask`` goes to both.

    Args:
        first: a loss of (logits, target).
        second: another one.
        weights: λ_1 and λ_2.

    >>> import torch
    >>> from gradsurge.losses.cross_entropy import CrossEntropy
    >>> from gradsurge.losses.dice import Dice
    >>> loss = WeightedSum(CrossEntropy(), Dice(), weights=(0.0, 2.0))
    >>> round(loss(torch.zeros(1, 2, 4), torch.tensor([[0, 0, 1, 1]])).item(), 4)
    1.0
    """

    def __init__(
        self, first: nn.Module, second: nn.Module, weights: tuple[float, float] = (1.0, 1.0)
    ) -> None:
        super().__init__()
        self.first, self.second = first, second
        self.weights = check_two_weights(weights)
        self._takes_mask = takes_mask(first), takes_mask(second)

    def forward(self, logits: Tensor, target: Tensor, mask: Tensor | None = None) -> Tensor:
        of_first, of_second = self.weights
        masks = {} if mask is None else {"mask": mask}
        for loss, takes in zip((self.first, self.second), self._takes_mask, strict=True):
            if masks and not takes:
                refuse_mask(loss)
        first: Tensor = self.first(logits, target, **masks)
        second: Tensor = self.second(logits, target, **masks)
        return of_first * first + of_second * second
