"""mL1-ACE: the average calibration error of each image and class, as a loss."""

import math
from collections.abc import Iterator
from typing import Literal

import torch
from torch import Tensor

from gradsurge.losses.class_weights import (
    ClassWeights,
    class_mean,
    weights_for,
)
from gradsurge.losses.options import check_whole_number
from gradsurge.losses.voxel_loss import VoxelLoss
from gradsurge.surgery.precision import sum_dtype
from gradsurge.surgery.rule import Activation

Binning = Literal["hard", "soft"]

# A soft bin that holds less than this many voxels is empty (the authors' value).
_EMPTY = 0.01
# Adding one float32 at a time drifts (a 128^3 volume shows it in the fourth digit), so a bin is
# summed over runs of at most this many voxels, and the runs in float64.
_RUN = 4096


def average_calibration_error(
    probabilities: Tensor,
    labels: Tensor,
    *,
    bins: int = 20,
    binning: Binning = "hard",
    kept: Tensor | None = None,
) -> Tensor:
    """Return the mean over non-empty bins of abs(mean p - mean y): (N, C, *S) -> (N, C).

    >>> p, y = torch.tensor([[[0.1, 0.2, 0.8]]]), torch.tensor([[[0, 1, 1]]])
    >>> round(average_calibration_error(p, y, bins=2).item(), 4)  # (0.35 + 0.2) / 2
    0.275
    """
    error = probabilities - labels.to(probabilities.dtype)
    if kept is not None:
        kept = kept.expand_as(error)
        error = error.masked_fill(~kept, 0.0)
    excess = mass = torch.zeros((), dtype=torch.float32, device=error.device)
    for index, share in _memberships(probabilities, bins, binning):
        weight = torch.ones_like(error[:1, :1]).expand_as(error) if share is None else share
        if kept is not None:
            weight = weight.masked_fill(~kept, 0.0)
        mass = mass + _bin_sums(index, weight, bins)
        excess = excess + _bin_sums(index, error if share is None else error * share, bins)
    filled = mass >= _EMPTY
    gaps = (excess.abs() / mass.clamp(min=_EMPTY)).masked_fill(~filled, 0.0)
    return (gaps.sum(dim=-1) / filled.sum(dim=-1).clamp(min=1)).to(probabilities.dtype)


def _memberships(p: Tensor, bins: int, binning: Binning) -> Iterator[tuple[Tensor, Tensor | None]]:
    """Yield the bin of every voxel, and how much of the voxel belongs to it (None: all of it)."""
    if binning == "hard":  # (lo, hi], and 0 in the first bin
        yield (p.detach() * bins).ceil_().sub_(1.0).relu_().long(), None
        return
    # Between two bin centres a voxel belongs to both, linearly; beyond the outermost, to that one.
    position = (p * bins - 0.5).clamp(0.0, bins - 1.0)
    left = position.detach().floor().clamp(max=max(bins - 2.0, 0.0))
    right_share = position - left
    yield left.long(), 1.0 - right_share
    if bins > 1:
        yield left.long() + 1, right_share


def _bin_sums(index: Tensor, values: Tensor, bins: int) -> Tensor:
    """Sum (N, C, *S) ``values`` by bin: (N, C, bins)."""
    runs, wide = _runs(values), sum_dtype(values.device)
    if runs.shape[-1] > _RUN:
        runs = runs.to(wide)
    sums = runs.new_zeros((*runs.shape[:-1], bins))
    return sums.scatter_add(-1, _runs(index), runs).to(wide).sum(dim=2)


def _runs(x: Tensor) -> Tensor:
    """Return (N, C, *S) as (N, C, runs, voxels a run), cut between rows or planes."""
    axis = x.ndim - 1
    while axis > 2 and math.prod(x.shape[axis - 1 :]) <= _RUN:
        axis -= 1
    return x.flatten(2).unsqueeze(2) if axis == 2 else x.flatten(axis).flatten(2, -2)


class ACE(VoxelLoss):
    """Marginal L1 average calibration error (mL1-ACE), an auxiliary loss to add to Dice or CE.

    Forward: for each image and class, the voxels fall into equal bins (lo, hi] of p; the value is
    the plain mean over the non-empty bins of abs(mean p - mean y); then the (weighted) mean over
    classes and images. A class without a voxel in an image has the value 0 and stays in that mean.

    Backward, hard binning: dL/dp = sign(mean p - mean y) / (n_b K) / (N C) for a voxel in a bin of
    n_b voxels, K non-empty bins; the bin's edge passes no gradient. With soft binning a voxel
    belongs to the two nearest bin centres, linearly, and the gradient flows through that, too.

    Args:
        bins: number of bins, >= 1.
        binning: "hard" (the default, keeps the Dice score better) or "soft" (calibrates more).
        activation: "softmax", or "sigmoid" for channels that may overlap.
        include_background: whether channel 0 counts; on by default, as the authors train it:
            calibration is marginal over all classes. With sigmoid all channels count.
        class_weights: one number >= 0 a class, the background's too; the classes' mean is weighted.
        ignore_index: label that contributes neither value nor gradient (softmax: a class index;
            sigmoid: single entries of the target).
        check: look at label values and for NaN (a reduction each).

    A ``mask`` leaves out what it marks 0, as ignore_index does: (N, *S) or (N, 1, *S), for sigmoid
    also (N, C, *S).

    Shapes: logits (N, C, *S); target (N, *S) or (N, 1, *S) class indices or one-hot (N, C, *S);
    sigmoid: (N, C, *S) labels in [0, 1], or (N, *S) for C = 1.

    Reference: Barfoot et al., Average calibration error: a differentiable loss for improved
    reliability in image segmentation, MICCAI 2024; soft binning: arXiv 2506.03942.

    >>> logits = torch.tensor([[[0.0, 0.0], [2.0, -2.0]]])  # p = 0.8808 and 0.1192
    >>> round(ACE()(logits, torch.tensor([[1, 0]])).item(), 4)  # every bin is off by 0.1192
    0.1192
    """

    def __init__(
        self,
        bins: int = 20,
        *,
        binning: Binning = "hard",
        activation: Activation = "softmax",
        include_background: bool = True,
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
        if binning not in ("hard", "soft"):
            raise ValueError(f"binning: expected 'hard' or 'soft', got {binning!r}")
        self.bins = check_whole_number("bins", bins, least=1)
        self.binning = binning

    def forward(self, logits: Tensor, target: Tensor, mask: Tensor | None = None) -> Tensor:
        z = self.working_logits(logits)
        labels, kept = self.labels(target, z, mask)
        p = self.probabilities(z)
        gaps = average_calibration_error(p, labels, bins=self.bins, binning=self.binning, kept=kept)
        present = labels.bool().flatten(2).any(dim=2)
        weights = weights_for(z, self.class_weights)
        return class_mean(gaps * present, None if weights is None else weights[self.first_class :])
