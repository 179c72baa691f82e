"""Carry a voxel-wise map over an array or tensor of any layout, a block of voxels at a time."""

import math
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gradsurge.calibration import inputs

BLOCK = 1 << 18  # voxels; what a block needs beside the result stays in the processor's cache
Values = TypeVar("Values", bound=NDArray[Any] | Tensor)
BlockMap = Callable[[Tensor], Tensor]


def blockwise(name: str, values: Values, axis: int | None, transform: BlockMap) -> Values:
    """Return ``transform`` of each block (channels, V) of voxels, in the shape of ``values``.

    Args:
        name: of the argument, for errors.
        values: floating point, an array or a tensor; the result is of the same type and dtype, on
            the same device. Halves are computed in float32.
        axis: that of the channels; None for a single channel without an axis.
        transform: a block in float32 or float64 to a block of the same shape.
    """
    tensor = values.detach() if isinstance(values, Tensor) else inputs.as_tensor(name, values)
    if not tensor.is_floating_point():
        raise TypeError(f"{name}: expected floating point, got {tensor.dtype}")
    result = _in_blocks(tensor, axis, transform)
    return cast(Values, result if isinstance(values, Tensor) else result.numpy())


def _in_blocks(tensor: Tensor, axis: int | None, transform: BlockMap) -> Tensor:
    shape = (1, *tensor.shape) if axis is None else tensor.shape
    place = 0 if axis is None else axis % tensor.ndim
    before, channels, after = math.prod(shape[:place]), shape[place], math.prod(shape[place + 1 :])
    planes = tensor.reshape(before, channels, after)
    result = torch.empty_like(planes, memory_format=torch.contiguous_format)
    step = max(1, BLOCK // max(after, 1))
    for first in range(0, before, step):
        for start in range(0, after, BLOCK):
            piece = slice(first, first + step), slice(None), slice(start, start + BLOCK)
            block = planes[piece].transpose(0, 1)
            working = block if block.dtype == torch.float64 else block.float()
            mapped = transform(working.reshape(channels, -1))
            result[piece] = mapped.reshape(block.shape).transpose(0, 1)
    return result.reshape(tensor.shape)


def shape_of(name: str, values: Values) -> tuple[int, ...]:
    """Return the shape; raise for what is neither an array nor a tensor."""
    if not isinstance(values, np.ndarray | np.generic | Tensor):
        raise TypeError(f"{name}: expected an array or a tensor, got {type(values).__name__}")
    return tuple(values.shape)


def channel_axis_of(
    name: str, shape: tuple[int, ...], axis: int | None, kind: str, classes: int
) -> int | None:
    """Return the axis of the channels by the one rule of `Recalibration`, or raise.

    Raises:
        ValueError: for an axis that is not there or has another number of channels.
    """
    if axis is None and kind == "binary":
        return None
    chosen = 1 if axis is None else axis
    allowed = (1, 2) if kind == "binary" else (classes,)
    if not -len(shape) <= chosen < len(shape) or shape[chosen] not in allowed:
        wanted = " or ".join(str(n) for n in allowed)
        raise ValueError(
            f"{name}: a {kind} recalibration expected {wanted} channels on axis {chosen}, got shape"
            f" {tuple(shape)}; channel_axis says where the channels are"
        )
    return chosen


def check_block(name: str, block: Tensor, low: float, high: float) -> None:
    """Refuse NaN, infinities and numbers outside [low, high]."""
    if not block.numel():
        return
    least, most = (float(v) for v in torch.aminmax(block))
    if math.isfinite(least) and math.isfinite(most) and low <= least and most <= high:
        return
    if math.isinf(high):
        raise ValueError(f"{name}: expected finite numbers, got {least:g} .. {most:g}")
    raise ValueError(
        f"{name}: expected numbers in [{low:g}, {high:g}], got {least:g} .. {most:g}; "
        "for logits there is apply_logits"
    )
