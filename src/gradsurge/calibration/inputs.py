"""What a sketch accepts: arrays or tensors of any device, checked before anything is counted."""

from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from gradsurge.calibration.histogram import Flags

_UNSIGNED = (torch.uint16, torch.uint32, torch.uint64)  # torch has no minimum of these


def as_tensor(name: str, values: "ArrayLike | Tensor") -> Tensor:
    """Return a detached tensor on the CPU, without a copy where there is no need of one."""
    if isinstance(values, Tensor):
        tensor = values.detach().cpu().as_subclass(Tensor)  # MONAI's would carry its meta data
        return tensor.long() if tensor.dtype in _UNSIGNED else tensor
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name}: expected an array of numbers, got dtype {array.dtype}")
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        array = array.astype(np.float64)
    if array.dtype.byteorder == ">" or (array.dtype.kind == "u" and array.dtype.itemsize > 1):
        array = array.astype(np.int64 if array.dtype.kind == "u" else array.dtype.newbyteorder("="))
    return torch.from_numpy(array.copy() if _needs_copy(array) else array)


def _needs_copy(array: NDArray[Any]) -> bool:
    return any(step < 0 for step in array.strides) or not array.flags.writeable


def planes(
    name: str, scores: Tensor, labels: Tensor, kind: str, classes: int
) -> tuple[Tensor, Tensor]:
    """Bring scores to (N, channels, *S) and labels to (N, *S) or, multi-label, (N, channels, *S).

    Binary scores may have the labels' shape (the foreground), or one or two channels. Without
    spatial axes, the N are the voxels of one image.
    """
    if not scores.is_floating_point():
        raise TypeError(f"{name}: expected floating point, got {scores.dtype}")
    if labels.is_floating_point() or labels.is_complex():
        raise TypeError(f"labels: expected whole numbers or booleans, got {labels.dtype}")
    same = scores.shape == labels.shape
    if kind == "multilabel":
        if not same or scores.ndim < 2 or scores.shape[1] != classes:
            _refuse(name, scores, labels, f"both (N, {classes}, *S)")
        return (scores.T[None], labels.T[None]) if scores.ndim == 2 else (scores, labels)
    if kind == "binary" and same:
        _refuse_one_hot(labels)
        return scores.reshape(1, 1, -1), labels.reshape(1, -1)
    if labels.ndim == scores.ndim and labels.shape[1:2] == (1,):
        labels = labels[:, 0]
    channels = (1, 2) if kind == "binary" else (classes,)
    fits = scores.ndim >= 2 and scores.shape[1] in channels
    if not fits or scores.shape[:1] + scores.shape[2:] != labels.shape:
        own = "both of one shape, or (N, 1 or 2, *S)" if kind == "binary" else f"(N, {classes}, *S)"
        _refuse(name, scores, labels, f"{own} and (N, *S)")
    return (scores.T[None], labels[None]) if scores.ndim == 2 else (scores, labels)


def _refuse_one_hot(labels: Tensor) -> None:
    """Refuse labels of two channels that exclude each other: both would count as foreground."""
    if labels.shape[1:2] == (2,) and labels.numel() and bool((labels[:, 0] != labels[:, 1]).all()):
        raise ValueError(
            f"labels: a binary sketch expects class indices, got one-hot labels of two classes, "
            f"{tuple(labels.shape)}; pass labels.argmax(1). (Channels that may overlap need a "
            f"multilabel sketch, images of two rows a channel axis: (N, 1, 2, ...).)"
        )


def _refuse(name: str, scores: Tensor, labels: Tensor, expected: str) -> None:
    raise ValueError(
        f"{name} and labels: expected {expected}, got {tuple(scores.shape)} and "
        f"{tuple(labels.shape)}"
    )


def as_mask(mask: "ArrayLike | Tensor | None", voxels: torch.Size, batch: int) -> Tensor | None:
    """Return which voxels count, as booleans (batch, V); None for all.

    Args:
        mask: (N, *S), with or without a channel axis of 1.
        voxels: the shape it must have: that of the labels without their channels.
        batch: N, or 1 where `planes` took all for one.
    """
    if mask is None:
        return None
    flags = as_tensor("mask", mask)
    if flags.dtype != torch.bool:
        raise TypeError(f"mask: expected booleans, true where a voxel counts, got {flags.dtype}")
    fitting = [voxels, torch.Size([*voxels[:1], 1, *voxels[1:]])]
    if voxels[1:2] == (1,):
        fitting.append(voxels[:1] + voxels[2:])
    if flags.shape not in fitting:
        raise ValueError(f"mask: expected {tuple(voxels)}, got {tuple(flags.shape)}")
    return flags.reshape(batch, voxels.numel() // max(batch, 1))


def check_labels(labels: Tensor, classes: int) -> None:
    """Refuse labels outside 0 .. classes - 1."""
    if labels.dtype == torch.bool or not labels.numel():
        return
    low, high = (int(v) for v in torch.aminmax(labels))
    if low < 0 or high >= classes:
        raise ValueError(
            f"labels: expected 0 .. {classes - 1}, got {low} .. {high}; leave voxels out by mask"
        )


def check_range(name: str, scores: Tensor, low: float, high: float) -> None:
    """Refuse NaN, infinities and numbers outside [low, high]."""
    if not scores.numel():
        return
    least, most = (float(v) for v in torch.aminmax(scores))
    finite = np.isfinite(least) and np.isfinite(most)
    if not (finite and least >= low and most <= high):
        limits = "finite numbers" if np.isinf(high) else f"numbers in [{low:g}, {high:g}]"
        hint = "" if np.isinf(high) else "; for logits there is update_logits"
        raise ValueError(f"{name}: expected {limits}, got {least:g} .. {most:g}{hint}")


def check_sums(p: Tensor) -> None:
    """Refuse exclusive classes (C, V) that do not sum to 1; 8-bit storage is within tolerance."""
    if not p.numel():
        return
    tolerance = max(0.02, len(p) / 255)
    least, most = (float(v) for v in torch.aminmax(p.sum(0)))
    if least < 1.0 - tolerance or most > 1.0 + tolerance:
        raise ValueError(
            f"probabilities: expected classes that sum to 1, got sums of {least:g} .. {most:g}; "
            "channels that may overlap need a multilabel sketch"
        )


def flags_of(labels: Tensor, value: int) -> Flags:
    """Return where the labels have a value, as a NumPy array."""
    found: Flags = (labels == value).numpy()
    return found


def as_flags(labels: Tensor) -> Flags:
    """Return labels that are known to be 0 or 1 as booleans; bytes need no copy."""
    narrow = labels.dtype in (torch.uint8, torch.int8)
    found: Flags = (labels.view(torch.bool) if narrow else labels.bool()).numpy()
    return found
