"""What the voxel-wise losses share: labels a channel, class weights, sums over a 3^d window.

Shapes as in `gradsurge.surgery.targets`: N samples, C classes, ``*S`` one to three spatial axes.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from gradsurge.surgery.operator import Activation
from gradsurge.surgery.precision import compute_dtype
from gradsurge.surgery.targets import (
    channel_labels,
    check_finite,
    check_labels,
    check_logits,
    check_unit_interval,
    class_indices,
    possible_ignore_index,
)

ClassWeights = Sequence[float] | Tensor | None


class Labelled(NamedTuple):
    """Labels (N, C, *S), 0 where ignored, and what counts: bool, broadcastable to them, or None."""

    labels: Tensor
    kept: Tensor | None


def check_activation(activation: str, ignore_index: int | None) -> None:
    """Raise unless the activation is known and ``ignore_index`` makes sense with it."""
    if activation not in ("softmax", "sigmoid"):
        raise ValueError(f"activation: expected 'softmax' or 'sigmoid', got {activation!r}")
    if activation == "sigmoid" and ignore_index in (0, 1):
        raise ValueError(
            f"ignore_index: with sigmoid, 0 and 1 are labels, so every {ignore_index} would be "
            f"left out; mark unlabelled voxels with another number, such as 255"
        )


def check_number(name: str, value: float, *, least: float, open_end: bool = False) -> float:
    """Return ``value`` if it is finite and at least ``least`` (more than it with ``open_end``)."""
    if not (math.isfinite(value) and (value > least if open_end else value >= least)):
        sign = ">" if open_end else ">="
        raise ValueError(f"{name}: expected a number {sign} {least:g}, got {value!r}")
    return value


def check_class_weights(weights: ClassWeights, first: int = 0) -> Tensor | None:
    """Return the weights as a tensor; raise unless they are >= 0 and some class has any."""
    if weights is None:
        return None
    values = torch.as_tensor(weights, dtype=torch.float64).detach().clone()
    fine = values.ndim == 1 and bool((values.isfinite() & (values >= 0)).all())
    if not fine or not bool((values[first:] > 0).any()):
        counted = "" if first == 0 else " after the background's, which is left out"
        raise ValueError(
            f"class_weights: expected one finite number >= 0 a class, background included, with a "
            f"positive one{counted}; got {values.tolist()}"
        )
    # float32 so that the module can move to devices that have no float64.
    return values.float()


def weights_for(logits: Tensor, weights: Tensor | None) -> Tensor | None:
    """Return the weights in the dtype and on the device of ``logits``, one a channel."""
    if weights is None:
        return None
    if weights.numel() != logits.shape[1]:
        raise ValueError(
            f"class_weights: {logits.shape[1]} classes need {logits.shape[1]} weights, the "
            f"background's included; got {weights.numel()}"
        )
    return weights.to(logits)


def class_mean(values: Tensor, weights: Tensor | None) -> Tensor:
    """Mean of (..., C) ``values``, the classes weighted.

    >>> class_mean(torch.tensor([[0.0, 1.0]]), torch.tensor([1.0, 3.0])).item()
    0.75
    """
    if weights is None:
        return values.mean()
    return ((values * weights).sum(dim=-1) / weights.sum()).mean()


def working_logits(logits: Tensor, *, min_channels: int, check: bool) -> Tensor:
    """Check ``logits`` and return them in the dtype to compute in."""
    check_logits(logits, min_channels=min_channels)
    if check:
        check_finite(logits)
    return logits.to(compute_dtype(logits))


def has_class_channels(target: Tensor, logits: Tensor, ignore_index: int | None) -> bool:
    """Whether a softmax model's target is (N, C, *S); raise if it should name an index, too."""
    if getattr(target, "shape", None) != logits.shape:  # what is no tensor is refused later
        return False
    if ignore_index is not None:
        raise ValueError(
            f"ignore_index: needs class indices as target, (N, *S) or (N, 1, *S), of which some "
            f"are {ignore_index}; got one label a class, {tuple(target.shape)}"
        )
    return True


def class_numbers(
    target: Tensor, logits: Tensor, ignore_index: int | None, *, check: bool
) -> tuple[Tensor, Tensor | None]:
    """Return class indices (N, *S) and, with ``ignore_index``, where they count: (N, 1, *S)."""
    if has_class_channels(target, logits, ignore_index):
        return class_indices(target, logits, check=check), None
    numbers = class_indices(target, logits)
    ignore_index = possible_ignore_index(numbers, ignore_index)
    if check:
        check_labels(numbers, logits.shape[1], ignore_index)
    kept = None if ignore_index is None else (numbers != ignore_index).unsqueeze(1)
    return numbers, kept


def one_hot(numbers: Tensor, classes: int, kept: Tensor | None, first: int = 0) -> Tensor:
    """Return (N, *S) class indices as bool (N, C, *S) of the classes from ``first`` on."""
    names = torch.arange(first, classes, device=numbers.device)
    labels = numbers.unsqueeze(1) == names.view(1, -1, *[1] * (numbers.ndim - 1))
    return labels if kept is None else labels & kept


def region_labels(
    target: Tensor, logits: Tensor, ignore_index: int | None, *, check: bool
) -> Labelled:
    """Labels of a sigmoid model: one in [0, 1] a channel; ``ignore_index`` marks single entries."""
    labels = channel_labels(target, logits)
    kept = None
    if ignore_index is not None:
        kept = labels != ignore_index
        labels = labels.masked_fill(~kept, 0)
    if check:
        check_unit_interval(labels)
    return Labelled(labels, kept)


def label_channels(
    target: Tensor,
    logits: Tensor,
    activation: Activation,
    ignore_index: int | None,
    *,
    first: int,
    check: bool,
) -> Labelled:
    """Labels of the channels from ``first`` on, whichever the activation."""
    if activation == "sigmoid":
        return region_labels(target, logits, ignore_index, check=check)
    numbers, kept = class_numbers(target, logits, ignore_index, check=check)
    return Labelled(one_hot(numbers, logits.shape[1], kept, first), kept)


def window_sum(counts: Tensor, step: int, *, replicate: bool) -> Tensor:
    """Sum integers (N, C, *S) over the 3^d window round each voxel, weighted by ``step`` ** k.

    k is the number of axes along which the neighbour is off the centre. Beyond the border lie
    copies of the outermost voxels (``replicate``) or zeros. Integers and one axis at a time are
    thirty times faster than a float convolution (2x2x128^3), exact, and out of autocast's reach.

    >>> window_sum(torch.tensor([[[1, 0, 0, 1]]]), 10, replicate=True)
    tensor([[[11, 10, 10, 11]]])
    """
    for axis in range(2, counts.ndim):
        size = counts.shape[axis]
        out = counts.clone()
        out.narrow(axis, 1, size - 1).add_(counts.narrow(axis, 0, size - 1), alpha=step)
        out.narrow(axis, 0, size - 1).add_(counts.narrow(axis, 1, size - 1), alpha=step)
        if replicate:
            for edge in (0, size - 1):
                out.narrow(axis, edge, 1).add_(counts.narrow(axis, edge, 1), alpha=step)
        counts = out
    return counts
