"""The sum of two losses, each with its weight."""

from torch import Tensor, nn

from gradsurge.losses.with_cross_entropy import check_two_weights


class WeightedSum(nn.Module):
    r"""λ_1 L_1 + λ_2 L_2, such as SVLS + Dice.

    Forward and backward: the weighted sums of those of the two losses.

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

    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        of_first, of_second = self.weights
        first: Tensor = self.first(logits, target)
        second: Tensor = self.second(logits, target)
        return of_first * first + of_second * second
