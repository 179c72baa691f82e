"""Convolutions of one window, as fast as those of several.

For a single sample with few channels times rows (20480 at most) torch leaves oneDNN for a slow loop
of its own, in 3D as in 2D. Small U-Nets lose a factor of 3 to 4 by it, on every window.
"""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

_ARGUMENTS = 7  # image, weight, bias, stride, padding, dilation, groups, as nn.Conv3d gives them


def fast_convolutions(windows: Tensor) -> AbstractContextManager[Any]:
    """Return a context in which 3D convolutions of one float32 window on the CPU use oneDNN.

    Any network profits, ours or not. For other windows it is a context that does nothing. Without
    gradients only.
    """
    slow = len(windows) == 1 and windows.ndim == 5 and windows.device.type == "cpu"
    return _OneDnn() if slow and torch.backends.mkldnn.is_available() else nullcontext()


class _OneDnn(TorchFunctionMode):
    """Sends convolutions to oneDNN that torch would not."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        if func is torch.conv3d and not kwargs and _can_be_sent(args):
            image, weight, bias, stride, padding, dilation, groups = args
            return torch.mkldnn_convolution(image, weight, bias, padding, stride, dilation, groups)
        return func(*args, **(kwargs or {}))


def _can_be_sent(args: tuple[Any, ...]) -> bool:
    if len(args) != _ARGUMENTS or isinstance(args[4], str) or torch.compiler.is_compiling():
        return False
    single = all(tensor.dtype == torch.float32 for tensor in args[:2])
    return single and args[0].ndim == 5 and not torch.is_autocast_enabled("cpu")
