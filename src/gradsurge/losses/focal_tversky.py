"""Focal Tversky loss."""

from typing import Unpack

from torch import Tensor

from gradsurge.losses.options import check_number
from gradsurge.losses.region import RegionOptions
from gradsurge.losses.tversky import Tversky


class FocalTversky(Tversky):
    r"""Tversky loss raised to a power, so that hard cases weigh more (γ > 1) or less.

    Forward: L = (1 - T)^γ, with the Tversky score T.

    Backward: Tversky's, times γ (1 - T)^(γ-1), one factor a sample and class; so the equilibrium is
    Tversky's.

    Args:
        gamma: the power γ > 0.
        a: weight of false positives.
        b: weight of false negatives; 1 - a if left out.
        **options: see `RegionLoss`.

    Reference: Abraham and Khan, A novel focal Tversky loss function, ISBI 2019; their γ of 4/3 is
    our 0.75.

    >>> import torch
    >>> logits, target = torch.zeros(1, 2, 4), torch.tensor([[0, 0, 1, 1]])
    >>> round(FocalTversky(gamma=2.0, a=0.5)(logits, target).item(), 4)  # 0.5 squared
    0.25
    """

    def __init__(
        self,
        gamma: float = 0.75,
        a: float = 0.3,
        b: float | None = None,
        **options: Unpack[RegionOptions],
    ) -> None:
        super().__init__(a, b, **options)
        self.gamma = check_number("gamma", gamma, least=0.0, open_end=True)

    def from_sums(
        self, intersection: Tensor, predicted: Tensor, target: Tensor, weights: Tensor | None
    ) -> Tensor:
        tversky = super().from_sums(intersection, predicted, target, weights)
        # A perfect score must not give 0^(gamma-1), infinite for gamma < 1.
        return tversky.clamp_min(1e-12).pow(self.gamma)
