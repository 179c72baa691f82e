"""Checks of values: labels in range, one-hot really one-hot, logits that are numbers and logits.

They cost a reduction each, so callers can turn them off; they are skipped while `torch.compile`
traces, where a decision on data would break the graph.
"""

import torch
from torch import Tensor

_SHARE_TOLERANCE = 1e-3  # room for soft labels stored in half precision; bfloat16 is coarser


def check_labels(labels: Tensor, classes: int, ignore_index: int | None = None) -> None:
    """Raise unless every label is a whole number in [0, classes) or ``ignore_index``."""
    if torch.compiler.is_compiling():
        return
    if labels.is_floating_point() and not bool((labels.frac() == 0).all()):
        raise ValueError(
            "target: expected whole class numbers, got fractions or non-finite ones; soft labels "
            "are passed as (N, C, *S), one channel a class"
        )
    kept = labels if ignore_index is None else labels.masked_fill(labels == ignore_index, 0)
    if kept.dtype == torch.bool:
        return
    low, high = (int(v) for v in torch.aminmax(kept))
    if low < 0 or high >= classes:
        wrong = low if low < 0 else high
        allowed = f"0..{classes - 1}" + ("" if ignore_index is None else f" or {ignore_index}")
        raise ValueError(
            f"target: expected labels {allowed}, got {wrong}; map it to a class, or pass "
            f"ignore_index={wrong} if those voxels are not labelled"
        )


def check_mask(mask: Tensor) -> None:
    """Raise if a mask has NaN, which would count like any other voxel (not within torch.func)."""
    if torch.compiler.is_compiling() or not mask.is_floating_point():
        return
    if torch._C._functorch.is_functorch_wrapped_tensor(mask):
        return
    if bool(mask.isnan().any()):
        raise ValueError("mask: expected 0 where a voxel does not count, else 1; got NaN")


def check_one_hot(target: Tensor) -> None:
    """Raise unless every voxel of (N, C, *S) ``target`` has exactly one 1 and else 0."""
    if torch.compiler.is_compiling():
        return
    hard = bool(((target == 0) | (target == 1)).all()) and bool((target.sum(dim=1) == 1).all())
    if not hard:
        raise ValueError(
            "target: expected hard one-hot labels, exactly one 1 a voxel; got soft or overlapping "
            "ones. Pass class indices; or, for classes that overlap, use the sigmoid activation"
        )


def check_unit_interval(target: Tensor, ignore_index: int | None = None) -> None:
    """Raise unless every channel label lies in [0, 1] or is ``ignore_index``."""
    if torch.compiler.is_compiling() or target.dtype == torch.bool:
        return
    if ignore_index is not None:
        target = target.masked_fill(target == ignore_index, 0)
    low, high = (float(v) for v in torch.aminmax(target))
    if not (low >= 0.0 and high <= 1.0):
        raise ValueError(
            f"target: expected labels in [0, 1], got values from {low:g} to {high:g}; "
            f"a 0/255 mask becomes labels with (mask > 0)"
        )


def check_shares(target: Tensor) -> None:
    """Raise unless the channels of (N, C, *S) soft ``target`` are shares of each voxel."""
    if torch.compiler.is_compiling():
        return
    check_unit_interval(target)
    low, high = (float(v) for v in torch.aminmax(target.sum(dim=1, dtype=torch.float32)))
    step = torch.finfo(target.dtype).eps if target.is_floating_point() else 0.0
    tolerance = max(_SHARE_TOLERANCE, step)
    if not (low >= 1.0 - tolerance and high <= 1.0 + tolerance):
        channels = "two" if target.shape[1] == 2 else target.shape[1]
        raise ValueError(
            f"target: expected {channels} channels that sum to 1 at every voxel, the background's "
            f"included, got sums from {low:g} to {high:g}; for channels that overlap use the "
            f"sigmoid activation"
        )


def check_finite(logits: Tensor, activation: str) -> None:
    """Raise if a logit is NaN, or infinite so that the softmax of its voxel is NaN.

    One sum decides; only a suspicious one is looked into. -inf is a class that is ruled out, which
    a softmax takes as long as another one is left; sigmoid takes both infinities.
    """
    if torch.compiler.is_compiling() or bool(logits.sum().isfinite()):
        return
    wrong = {"NaN": logits.isnan()}
    if activation == "softmax":
        wrong["+inf"] = logits == torch.inf
        wrong["-inf in every channel of a voxel"] = (logits == -torch.inf).all(dim=1)
    for name, where in wrong.items():
        if bool(where.any()):
            raise ValueError(
                f"logits: expected finite numbers, got {name}, {int(where.sum())} times in shape "
                f"{tuple(logits.shape)}; the network has diverged or its input holds such values"
            )


def check_not_probabilities(logits: Tensor, activation: str) -> None:
    """Raise if ``logits`` look like probabilities: an activation too many.

    A sample of voxels decides; only if all of it looks so, the whole tensor is looked at. Softmax
    output sums to 1 over the channels, which logits do by accident only; sigmoid output is told
    from logits by all of at least 64 values lying in [0, 1], some below 0.5 and some above.
    """
    if torch.compiler.is_compiling():
        return
    flat = logits.detach().flatten(2)
    step = max(1, flat.shape[2] // 1024)
    if all(_look_like_probabilities(part, activation) for part in (flat[:, :, ::step], flat)):
        raise ValueError(
            f"logits: expected raw network outputs, got values that all lie in [0, 1]"
            f"{' and sum to 1 over the channels' if activation == 'softmax' else ''}; the loss "
            f"applies the {activation} itself, so take yours off the network (or pass check=False "
            f"if these really are logits)"
        )


def _look_like_probabilities(values: Tensor, activation: str) -> bool:
    low, high = (float(v) for v in torch.aminmax(values))
    if not (low >= 0.0 and high <= 1.0):
        return False
    if activation == "softmax":
        return bool(((values.sum(dim=1) - 1.0).abs() < 1e-3).all())
    return values.numel() >= 64 and low < 0.5 < high
