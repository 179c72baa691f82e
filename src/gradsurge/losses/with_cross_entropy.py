"""Cross-entropy plus a region loss, in one pass over the voxels."""

from collections.abc import Sequence

from torch import Tensor, nn

from gradsurge.losses.class_weights import weights_for
from gradsurge.losses.equilibrium import Equilibrium
from gradsurge.losses.options import check_number
from gradsurge.losses.ranks import mean_over_ranks
from gradsurge.losses.region import RegionLoss
from gradsurge.losses.strength import PAPER
from gradsurge.surgery.precision import compute_dtype
from gradsurge.surgery.region_sums import RegionSums

CE_WEIGHTS: tuple[float, float] = PAPER["weights"]


class WithCrossEntropy(nn.Module):
    r"""λ_ce CE + λ_r R for a region loss R (the Combo loss, if R is Dice).

    Forward: CE is the mean of -log p_true over the voxels that count, weighted by the region loss's
    class weights; for sigmoid, the mean binary cross-entropy over channels.

    Backward: cross-entropy keeps its ordinary gradient p - y; only the region part is operated on.
    At equilibrium the shift is log((λ_ce/V + λ_r s G_fg) / (λ_ce/V + λ_r s G_bg)).

    Args:
        region: the region loss; its activation, class weights and ignore_index serve both parts.
        weights: λ_ce and λ_r.

    Reference: Taghanaki et al., Combo loss, CMIG 2019.

    >>> import torch
    >>> from gradsurge.losses.dice import Dice
    >>> logits, target = torch.zeros(1, 2, 4), torch.tensor([[0, 0, 1, 1]])
    >>> round(WithCrossEntropy(Dice(), weights=(1, 1))(logits, target).item(), 4)  # log 2 + 0.5
    1.1931
    """

    def __init__(self, region: RegionLoss, weights: tuple[float, float] = CE_WEIGHTS) -> None:
        super().__init__()
        if not isinstance(region, RegionLoss):
            raise TypeError(
                f"region: expected a region loss of gradsurge, such as Dice(), got "
                f"{type(region).__name__}; WeightedSum adds other losses to CrossEntropy"
            )
        self.region = region
        self.weights = check_two_weights(weights)

    def forward(self, logits: Tensor, target: Tensor, mask: Tensor | None = None) -> Tensor:
        sums = self.region.sums(logits, target, mask, nll=True)
        of_ce, of_region = self.weights
        loss = of_ce * self._cross_entropy(sums) + of_region * self.region.reduce(sums)
        return loss.to(compute_dtype(logits))

    def _cross_entropy(self, sums: RegionSums) -> Tensor:
        softmax = self.region.activation == "softmax"
        nll, counts = sums.nll, sums.target if softmax else sums.voxels
        weights = weights_for(nll, self.region.class_weights)
        if weights is not None:
            nll, counts = nll * weights, counts * weights
        total = nll.sum()
        return total / mean_over_ranks(counts.sum(), total).clamp_min(1e-12)

    @property
    def blend(self) -> float:
        """Share of the surgery in the region part's gradient, settable while training."""
        return self.region.blend

    @blend.setter
    def blend(self, value: float) -> None:
        self.region.blend = value

    def equilibrium(self) -> Equilibrium:
        """Return the measured rates of both parts' field."""
        return self.region.equilibrium()

    def equilibrium_shift(self) -> Tensor:
        """Return by how much each class's logit settles above the posterior's, shape (C,)."""
        return self.region.equilibrium_shift()


def check_two_weights(weights: tuple[float, float]) -> tuple[float, float]:
    """Return the weights of a compound loss's two terms, checked."""
    if not isinstance(weights, Sequence):
        raise TypeError(f"weights: expected two numbers, one a term, got {weights!r}")
    if len(weights) != 2:
        raise ValueError(f"weights: expected two numbers, one a term, got {weights!r}")
    first, second = (check_number("weights", w, least=0.0) for w in weights)
    if first == second == 0.0:
        raise ValueError(f"weights: expected one of the two above 0, got {weights!r}")
    return first, second
