"""What a voxel-wise loss reads its batch as: logits to compute with, labels, and what counts.

Shapes as in `gradsurge.surgery.targets`: N samples, C classes, ``*S`` one to three spatial axes.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from gradsurge.surgery.precision import compute_dtype
from gradsurge.surgery.rule import Activation
from gradsurge.surgery.targets import (
    channel_labels,
    check_logits,
    class_indices,
    one_mask_a_voxel,
    possible_ignore_index,
    refuse_ignore_index_beside_channels,
    valid_voxels,
)
from gradsurge.surgery.values import check_finite, check_labels, check_unit_interval


class Labelled(NamedTuple):
    """Labels (N, C, *S), 0 where ignored, and what counts: bool, broadcastable to them, or None."""

    labels: Tensor
    kept: Tensor | None


def working_logits(logits: Tensor, *, min_channels: int, check: bool) -> Tensor:
    """Check ``logits`` and return them in the dtype to compute in."""
    check_logits(logits, min_channels=min_channels)
    if check:
        check_finite(logits, "softmax" if min_channels > 1 else "sigmoid")
    return logits.to(compute_dtype(logits))


def has_class_channels(target: Tensor, logits: Tensor, ignore_index: int | None) -> bool:
    """Whether a softmax model's target is (N, C, *S); raise if it should name an index, too."""
    if getattr(target, "shape", None) != logits.shape:  # what is no tensor is refused later
        return False
    refuse_ignore_index_beside_channels(target, ignore_index)
    return True


def softmax_mask(mask: Tensor | None, logits: Tensor, *, check: bool) -> Tensor | None:
    """Return the mask of a softmax model as bool (N, 1, *S)."""
    valid = valid_voxels(mask, logits, check=check)
    return None if valid is None else one_mask_a_voxel(valid).unsqueeze(1)


def class_numbers(
    target: Tensor,
    logits: Tensor,
    ignore_index: int | None,
    mask: Tensor | None = None,
    *,
    check: bool,
) -> tuple[Tensor, Tensor | None]:
    """Return class indices (N, *S) and where they count, (N, 1, *S), None for everywhere."""
    valid = softmax_mask(mask, logits, check=check)
    if has_class_channels(target, logits, ignore_index):
        return class_indices(target, logits, check=check), valid
    numbers = class_indices(target, logits)
    unlabelled = possible_ignore_index(numbers, ignore_index)
    if check:
        check_labels(numbers, logits.shape[1], unlabelled)
    kept = None if unlabelled is None else (numbers != unlabelled).unsqueeze(1)
    return numbers, _both(kept, valid)


def one_hot(numbers: Tensor, classes: int, kept: Tensor | None, first: int = 0) -> Tensor:
    """Return (N, *S) class indices as bool (N, C, *S) of the classes from ``first`` on."""
    names = torch.arange(first, classes, device=numbers.device)
    labels = numbers.unsqueeze(1) == names.view(1, -1, *[1] * (numbers.ndim - 1))
    return labels if kept is None else labels & kept


def region_labels(
    target: Tensor,
    logits: Tensor,
    ignore_index: int | None,
    mask: Tensor | None = None,
    *,
    check: bool,
) -> Labelled:
    """Labels of a sigmoid model: one in [0, 1] a channel; ``ignore_index`` marks single entries."""
    labels = channel_labels(target, logits)
    unlabelled = possible_ignore_index(labels, ignore_index)
    if check:
        check_unit_interval(labels, unlabelled)
    kept = None if unlabelled is None else labels != unlabelled
    kept = _both(kept, valid_voxels(mask, logits, check=check))
    return Labelled(labels if kept is None else labels.masked_fill(~kept, 0), kept)


def label_channels(
    target: Tensor,
    logits: Tensor,
    activation: Activation,
    ignore_index: int | None,
    mask: Tensor | None,
    *,
    first: int,
    check: bool,
) -> Labelled:
    """Labels of the channels from ``first`` on, whichever the activation."""
    if activation == "sigmoid":
        return region_labels(target, logits, ignore_index, mask, check=check)
    numbers, kept = class_numbers(target, logits, ignore_index, mask, check=check)
    return Labelled(one_hot(numbers, logits.shape[1], kept, first), kept)


def _both(kept: Tensor | None, valid: Tensor | None) -> Tensor | None:
    if kept is None or valid is None:
        return valid if kept is None else kept
    return kept & valid
