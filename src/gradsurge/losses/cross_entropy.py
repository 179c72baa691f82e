"""Cross-entropy: the loss whose gradient is the error itself."""

import torch
import torch.nn.functional as F
from torch import Tensor

from gradsurge.losses.class_weights import ClassWeights, weights_for
from gradsurge.losses.labelled import (
    Labelled,
    class_numbers,
    has_class_channels,
    region_labels,
    softmax_mask,
)
from gradsurge.losses.ranks import mean_over_ranks
from gradsurge.losses.voxel_loss import VoxelLoss
from gradsurge.surgery.rule import Activation
from gradsurge.surgery.targets import channel_labels
from gradsurge.surgery.values import check_shares

_IGNORED = -100  # what F.cross_entropy leaves out; never a class


class CrossEntropy(VoxelLoss):
    """Cross-entropy of softmax classes, or binary cross-entropy of sigmoid channels.

    Forward, softmax: L = -sum_vc w_c q_vc log p_vc / sum_vc w_c q_vc, over voxels v and classes c,
    with q the one-hot or soft label. Without weights that is the mean over voxels; with weights and
    hard labels it is torch's weighted mean, and one-hot labels give what class indices give.
    Forward, sigmoid: L = -sum w_c (y log p + (1-y) log(1-p)) / sum w_c over voxels and channels.

    Backward: dL/dz_c = (p_c - y_c) / V for V voxels in the batch, all weights 1; the error is not
    damped by p(1-p). For sigmoid, with C channels, (p_c - y_c) / (C V).

    Args:
        activation: "softmax" (classes exclude each other) or "sigmoid" (channels may overlap).
        class_weights: one number >= 0 a class (channel), the background's too.
        ignore_index: label that contributes neither value nor gradient (softmax: a class index;
            sigmoid: single entries of the target).
        check: look at label values and for NaN (a reduction each).

    A ``mask`` leaves out what it marks 0, as ignore_index does: (N, *S) or (N, 1, *S), for sigmoid
    also (N, C, *S). What counts is counted over all ranks of a distributed training.

    Shapes: logits (N, C, *S); target (N, *S) or (N, 1, *S) class indices, or (N, C, *S)
    distributions over the classes; sigmoid: (N, C, *S) labels in [0, 1], or (N, *S) for C = 1.

    Reference: torch.nn.functional.cross_entropy and binary_cross_entropy_with_logits.

    >>> logits = torch.tensor([[[0.0, 2.0], [0.0, 0.0]]])  # two voxels, two classes
    >>> round(CrossEntropy()(logits, torch.tensor([[1, 0]])).item(), 4)  # (log 2 + 0.1269) / 2
    0.41
    """

    def __init__(
        self,
        *,
        activation: Activation = "softmax",
        class_weights: ClassWeights = None,
        ignore_index: int | None = None,
        check: bool = True,
    ) -> None:
        super().__init__(
            activation=activation,
            class_weights=class_weights,
            ignore_index=ignore_index,
            check=check,
        )

    def forward(self, logits: Tensor, target: Tensor, mask: Tensor | None = None) -> Tensor:
        z = self.working_logits(logits)
        weights = weights_for(z, self.class_weights)
        if self.activation == "sigmoid":
            found = region_labels(target, z, self.ignore_index, mask, check=self.check)
            return binary_cross_entropy(z, found, weights)
        if has_class_channels(target, z, self.ignore_index):
            q = channel_labels(target, z)
            if self.check:
                check_shares(q)
            q, kept = q.to(z.dtype), softmax_mask(mask, z, check=self.check)
            return soft_cross_entropy(z, q if kept is None else q * kept, weights)
        numbers, kept = class_numbers(target, z, self.ignore_index, mask, check=self.check)
        return hard_cross_entropy(z, numbers, kept, weights)


def hard_cross_entropy(
    z: Tensor, numbers: Tensor, kept: Tensor | None, weights: Tensor | None
) -> Tensor:
    """Mean over the voxels that count; ``numbers`` are class indices (N, *S)."""
    numbers = numbers.long()
    if kept is None and weights is None:
        return F.cross_entropy(z, numbers)
    valid = torch.ones_like(numbers, dtype=torch.bool) if kept is None else kept.squeeze(1)
    counted = valid.to(z.dtype)
    if weights is not None:
        counted = counted * weights[numbers.masked_fill(~valid, 0)]
    numbers = numbers.masked_fill(~valid, _IGNORED)
    total = F.cross_entropy(z, numbers, weights, ignore_index=_IGNORED, reduction="sum")
    return _ratio(total, counted.sum())


def soft_cross_entropy(z: Tensor, q: Tensor, weights: Tensor | None) -> Tensor:
    """Mean over the voxels that count; ``q`` (N, C, *S) sums to one, or to zero where ignored."""
    # Where a class is ruled out by a logit of -inf, q log p = 0 * -inf is to count as 0.
    of_q = torch.log_softmax(z, dim=1).masked_fill(q == 0, 0.0) * q
    axes = (0, *range(2, q.ndim))
    total, mass = -of_q.sum(dim=axes), q.sum(dim=axes)
    if weights is not None:
        total, mass = total * weights, mass * weights
    return _ratio(total.sum(), mass.sum())


def binary_cross_entropy(z: Tensor, found: Labelled, weights: Tensor | None) -> Tensor:
    """Mean over the channel entries that count."""
    y = found.labels.to(z.dtype)
    if found.kept is None and weights is None:
        return F.binary_cross_entropy_with_logits(z, y)
    counted = torch.ones_like(z) if found.kept is None else found.kept.expand_as(z).to(z.dtype)
    if weights is not None:
        counted = counted * weights.view(1, -1, *[1] * (z.ndim - 2))
    total = F.binary_cross_entropy_with_logits(z, y, counted, reduction="sum")
    return _ratio(total, counted.sum())


def _ratio(total: Tensor, count: Tensor) -> Tensor:
    count = mean_over_ranks(count, total)
    # Nothing counts: 0 with zero gradients, where torch's own mean is 0 / 0.
    return total / torch.where(count > 0, count, torch.ones_like(count))
