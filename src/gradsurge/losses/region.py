"""What every region loss shares: sums, reduction, surgery, and the measured equilibrium."""

from abc import ABC, abstractmethod
from typing import TypedDict

import torch
from torch import Tensor

from gradsurge.losses.class_weights import (
    ClassWeights,
    check_class_weights,
    class_mean,
    weights_for,
)
from gradsurge.losses.operated import Operated
from gradsurge.losses.options import check_activation, check_number
from gradsurge.losses.ranks import mean_over_ranks, sum_over_ranks
from gradsurge.surgery.precision import compute_dtype
from gradsurge.surgery.region_sums import RegionSums, region_sums
from gradsurge.surgery.rule import Activation, Operation, SurgeryRule
from gradsurge.surgery.sums import normalising_factor
from gradsurge.surgery.targets import check_flag


class RegionOptions(TypedDict, total=False):
    """Options of every region loss; `RegionLoss` says what they mean."""

    activation: Activation
    smooth: float
    batch: bool
    include_background: bool
    class_weights: ClassWeights
    ignore_index: int | None
    surgery: SurgeryRule | None
    hard_statistics: bool
    check: bool
    classes: int


class RegionLoss(Operated, ABC):
    """A loss that is a function of the sums I of p y, P of p, Y of y per sample and class.

    Backward: dL/dp = dL/dP + y dL/dI, brought to the logits by the chain rule, or by the rule of
    ``surgery`` in its place. No probability map is ever built.

    Shapes: logits (N, C, *S); target class indices (N, *S), (N, 1, *S) or one-hot (N, C, *S).
    Two-class and sigmoid labels may be soft.

    Args:
        activation: "softmax" for exclusive classes, "sigmoid" for channels that may overlap.
        smooth: added to numerator and denominator; > 0, so that nothing by nothing is a number.
        batch: one score over the whole batch (and all ranks) instead of one a sample.
        include_background: count class 0 of a softmax too.
        class_weights: one weight a class (background's counts where background does); the mean over
            classes is weighted with them.
        ignore_index: class index of voxels that count neither in the loss nor in its gradient.
        surgery: the rule for the backward pass; None for the ordinary gradient.
        hard_statistics: take the global terms dL/dI and dL/dP of the backward pass at the sums of
            the thresholded mask; the value stays that of the soft sums.
        check: look at label values and for NaN (never under torch.compile).
        classes: number of classes, only needed to compile a surgery loss before its first use.
    """

    class_weights: Tensor | None

    def __init__(
        self,
        *,
        activation: Activation = "softmax",
        smooth: float = 1e-5,
        batch: bool = False,
        include_background: bool = False,
        class_weights: ClassWeights = None,
        ignore_index: int | None = None,
        surgery: SurgeryRule | None = None,
        hard_statistics: bool = False,
        check: bool = True,
        classes: int = 2,
    ) -> None:
        check_activation(activation, ignore_index)
        super().__init__(surgery, activation, classes)
        self.batch = check_flag("batch", batch)
        self.smooth = check_number("smooth", smooth, least=0.0, open_end=True)
        background = check_flag("include_background", include_background)
        self.first_class = 0 if background or activation == "sigmoid" else 1
        weights = check_class_weights(class_weights, self.first_class)
        self.register_buffer("class_weights", weights, persistent=False)
        self.ignore_index, self.check = ignore_index, check_flag("check", check)
        if check_flag("hard_statistics", hard_statistics) and surgery is None:
            raise ValueError(
                "hard_statistics: only a field that is no gradient may take its global terms from "
                "the mask; build the loss with surgery=SurgeryRule(), or by a -surgery name"
            )
        self.hard_statistics = hard_statistics

    @abstractmethod
    def from_sums(
        self, intersection: Tensor, predicted: Tensor, target: Tensor, weights: Tensor | None
    ) -> Tensor:
        """Return the loss of each sample and class, (N, C), or of all classes together, (N, 1).

        ``weights`` (C,) are for the latter; otherwise they are applied afterwards.
        """

    def forward(self, logits: Tensor, target: Tensor, mask: Tensor | None = None) -> Tensor:
        return self.reduce(self.sums(logits, target, mask)).to(compute_dtype(logits))

    def sums(
        self, logits: Tensor, target: Tensor, mask: Tensor | None = None, *, nll: bool = False
    ) -> RegionSums:
        """Return the sums of a batch, whose backward pass is this loss's."""
        how = Operation(
            self.activation,
            self.surgery,
            self._blend,
            self.ignore_index,
            self.check,
            nll=nll,
            hard=self.hard_statistics,
        )
        return region_sums(logits, target, how, mask, self.probe)

    def reduce(self, sums: RegionSums) -> Tensor:
        """Return the loss of a batch from its sums."""
        soft = sums.intersection, sums.predicted, sums.target
        hard = sums.hard_intersection, sums.hard_predicted
        parts = torch.stack((*soft, *hard))
        if self.batch:
            parts = sum_over_ranks(parts.sum(dim=1, keepdim=True))
        intersection, predicted, target, hard_intersection, hard_predicted = parts
        # Nothing predicted and nothing there is a perfect hard score with a slope of 1 / smooth.
        some = hard_predicted.detach() + target > 0
        at = torch.where(some, hard_predicted, predicted) if self.hard_statistics else predicted
        factor = self._factor(at, target, of=intersection)
        if factor is not None:
            intersection, predicted = (_with_slope(x, factor) for x in (intersection, predicted))
        loss = self._mean(intersection, predicted, target)
        if not self.hard_statistics:
            return loss
        to_hard = hard_intersection - intersection, hard_predicted - predicted
        moves = [torch.where(some, move, 0.0).detach() for move in to_hard]
        at_hard = self._mean(intersection + moves[0], predicted + moves[1], target)
        return at_hard + (loss - at_hard).detach()

    def _factor(self, predicted: Tensor, target: Tensor, of: Tensor) -> Tensor | None:
        """Return what the slopes of each sample and class are multiplied with, if anything."""
        if self.surgery is None or not self.surgery.normalise:
            return None
        if self.surgery.normalise == "batch" and not self.batch:
            of_batch = torch.stack((predicted, target)).detach().sum(dim=1, keepdim=True)
            predicted, target = mean_over_ranks(of_batch, of)
        return normalising_factor(predicted, target, self.surgery, self.activation, self._blend)

    def _mean(self, intersection: Tensor, predicted: Tensor, target: Tensor) -> Tensor:
        weights = weights_for(intersection, self.class_weights)
        weights = None if weights is None else weights[self.first_class :]
        i, p, y = (s[:, self.first_class :] for s in (intersection, predicted, target))
        losses = self.from_sums(i, p, y, weights)
        return class_mean(losses, weights if losses.shape[1] > 1 else None)


def _with_slope(x: Tensor, factor: Tensor) -> Tensor:
    """Return ``x``, of which every gradient is multiplied with ``factor``."""
    return x + (factor - 1.0) * (x - x.detach())
