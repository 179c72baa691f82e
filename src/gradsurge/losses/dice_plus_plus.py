"""Dice++ (DSC++): Dice with each voxel's error raised to a power."""

import torch
from torch import Tensor

from gradsurge.losses.class_weights import (
    ClassWeights,
    class_mean,
    weights_for,
)
from gradsurge.losses.options import check_number
from gradsurge.losses.ranks import sum_over_ranks
from gradsurge.losses.voxel_loss import VoxelLoss
from gradsurge.surgery.rule import Activation
from gradsurge.surgery.targets import check_flag


def dice_plus_plus(
    probabilities: Tensor,
    labels: Tensor,
    *,
    gamma: float = 2.0,
    smooth: float = 1e-5,
    batch: bool = False,
) -> Tensor:
    """Return 1 - (2I + eps) / (2I + F + eps) of (N, C, *S) inputs: (N, C), or (C,) with ``batch``.

    >>> p, y = torch.tensor([[[0.8, 0.4]]]), torch.tensor([[[1.0, 0.0]]])
    >>> round(dice_plus_plus(p, y).item(), 4)  # 1 - 1.6 / (1.6 + 0.2^2 + 0.4^2)
    0.1111
    """
    axes = (0, *range(2, labels.ndim)) if batch else tuple(range(2, labels.ndim))
    y = labels.to(probabilities.dtype)
    overlap = probabilities * y
    # p - py and y - py are p(1-y) and (1-p)y. Rounding never makes them negative (py <= p, y), so
    # the power is defined for every gamma, and for gamma >= 1 its slope is finite at 0.
    wrong = (probabilities - overlap).pow(gamma).sum(axes)
    wrong = wrong + (y - overlap).pow(gamma).sum(axes)
    right = 2.0 * overlap.sum(axes)
    if batch:
        right, wrong = sum_over_ranks(torch.stack((right, wrong))).unbind()
    return 1.0 - (right + smooth) / (right + wrong + smooth)


class DicePlusPlus(VoxelLoss):
    """Dice++ loss: the Dice loss with errors raised to gamma, so that small errors weigh less.

    Forward, a class: L = 1 - (2I + eps) / D with I = sum p y, D = 2I + F + eps and
    F = sum (p(1-y))^gamma + sum ((1-p)y)^gamma; then the (weighted) mean over classes and samples.

    Backward, hard labels, a class:
        y = 1: dL/dp = -(2F + gamma (2I + eps) (1-p)^(gamma-1)) / D^2
        y = 0: dL/dp = gamma (2I + eps) p^(gamma-1) / D^2
    and through softmax or sigmoid as usual. For gamma = 2 both are linear in the error:
    -2 (F + (2I + eps)(1-p)) / D^2 and 2 (2I + eps) p / D^2. (The surgery paper's appendix has twice
    the y = 0 term, and counts voxel i in some of its sums only; these follow from the definition.)

    Args:
        gamma: the power, >= 1 (below 1 the slope at a right answer is infinite); 1 is plain Dice.
        smooth: eps > 0; a class that is absent and not predicted has loss 0.
        activation: "softmax", or "sigmoid" for channels that may overlap.
        include_background: whether channel 0 counts. With sigmoid there is no background channel:
            all channels count.
        batch: sum over the batch (and all ranks) before the ratio, not one ratio a sample.
        class_weights: one number >= 0 a class, the background's too; the classes' mean is weighted.
        ignore_index: label that contributes neither value nor gradient (softmax: a class index;
            sigmoid: single entries of the target).
        check: look at label values and for NaN (a reduction each).

    A ``mask`` leaves out what it marks 0, as ignore_index does: (N, *S) or (N, 1, *S), for sigmoid
    also (N, C, *S).

    Shapes: logits (N, C, *S); target (N, *S) or (N, 1, *S) class indices or one-hot (N, C, *S);
    sigmoid: (N, C, *S) labels in [0, 1], or (N, *S) for C = 1.

    Reference: Yeung et al., Calibrating the Dice loss to handle neural network overconfidence for
    biomedical image segmentation, Journal of Digital Imaging 2023.

    >>> logits = torch.tensor([[[0.0, 0.0], [2.0, -2.0]]])  # two voxels, p = 0.8808 and 0.1192
    >>> round(DicePlusPlus()(logits, torch.tensor([[1, 0]])).item(), 4)
    0.0159
    """

    def __init__(
        self,
        gamma: float = 2.0,
        *,
        smooth: float = 1e-5,
        activation: Activation = "softmax",
        include_background: bool = False,
        batch: bool = False,
        class_weights: ClassWeights = None,
        ignore_index: int | None = None,
        check: bool = True,
    ) -> None:
        super().__init__(
            activation=activation,
            include_background=include_background,
            class_weights=class_weights,
            ignore_index=ignore_index,
            check=check,
        )
        self.gamma = check_number("gamma", gamma, least=1.0)
        self.smooth = check_number("smooth", smooth, least=0.0, open_end=True)
        self.batch = check_flag("batch", batch)

    def forward(self, logits: Tensor, target: Tensor, mask: Tensor | None = None) -> Tensor:
        z = self.working_logits(logits)
        labels, kept = self.labels(target, z, mask)
        p = self.probabilities(z)
        if kept is not None:
            p = p.masked_fill(~kept, 0.0)
        values = dice_plus_plus(p, labels, gamma=self.gamma, smooth=self.smooth, batch=self.batch)
        weights = weights_for(z, self.class_weights)
        return class_mean(values, None if weights is None else weights[self.first_class :])
