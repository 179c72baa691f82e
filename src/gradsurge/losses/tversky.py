"""Tversky loss: Dice with separate weights for false positives and false negatives."""

import math
from typing import Unpack

from torch import Tensor

from gradsurge.losses.options import check_real
from gradsurge.losses.region import RegionLoss, RegionOptions


class Tversky(RegionLoss):
    r"""Tversky loss, with surgery on request.

    Forward: L = 1 - T, T = (I + ε) / (I + a FP + b FN + ε), with FP = P - I and FN = Y - I.

    Backward, with the denominator N: dL/dp = -(1 - (1 - b) T) / N on foreground and a T / N
    on background, up to ε. At equilibrium, for a + b = 1, the ratio is (1 - a T) / (a T).

    Args:
        a: weight of false positives.
        b: weight of false negatives; 1 - a if left out.
        **options: see `RegionLoss`.

    Reference: Salehi et al., Tversky loss function for image segmentation, MLMI 2017.

    >>> import torch
    >>> logits, target = torch.zeros(1, 2, 4), torch.tensor([[0, 0, 0, 1]])
    >>> round(Tversky(a=0.3)(logits, target).item(), 4)  # 1 - 0.5 / (0.5 + 0.3 * 1.5 + 0.7 * 0.5)
    0.6154
    """

    def __init__(
        self, a: float = 0.5, b: float | None = None, **options: Unpack[RegionOptions]
    ) -> None:
        super().__init__(**options)
        self.a, self.b = check_error_weights(a, b)

    def from_sums(
        self, intersection: Tensor, predicted: Tensor, target: Tensor, weights: Tensor | None
    ) -> Tensor:
        errors = self.a * (predicted - intersection) + self.b * (target - intersection)
        return 1.0 - (intersection + self.smooth) / (intersection + errors + self.smooth)


def check_error_weights(a: float, b: float | None) -> tuple[float, float]:
    """Return the weights of false positives and false negatives, checked."""
    check_real("a: expected a number >= 0", a)
    b = 1.0 - a if b is None else b
    check_real("b: expected a number >= 0", b)
    if not (a >= 0 and b >= 0 and 0 < a + b < math.inf):
        raise ValueError(
            f"a, b: expected weights >= 0 of false positives and false negatives, got a={a!r}, "
            f"b={b!r} (b is 1 - a if left out)"
        )
    return a, b
