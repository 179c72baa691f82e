"""Memory for results and intermediates on the CPU, without paying for every page of it.

A fresh large tensor is mapped page by page as it is first written to, 4 KB at a time: for the
gradient of a 2x2x128^3 batch that takes longer than all the arithmetic. Linux maps 2 MB at a time
if asked to (torch itself asks only if THP_MEM_ALLOC_ENABLE=1 was set before it started).
"""

import ctypes
import functools
import sys
from collections.abc import Callable

import torch
from torch import Tensor

_HUGE_PAGE = 1 << 21
_MADV_HUGEPAGE = 14


def ask_for_huge_pages(x: Tensor) -> Tensor:
    """Return ``x``, uninitialised still, after asking the system to map it in large pieces."""
    size = x.numel() * x.element_size()
    if x.device.type != "cpu" or size < 2 * _HUGE_PAGE or torch.compiler.is_compiling():
        return x
    advise = _madvise()
    if advise is not None:
        try:
            start = x.data_ptr()
        except RuntimeError:  # a wrapper of torch.func has no memory of its own
            return x
        first = -(-start // _HUGE_PAGE) * _HUGE_PAGE  # whole pages only
        advise(first, (start + size - first) // _HUGE_PAGE * _HUGE_PAGE, _MADV_HUGEPAGE)
    return x


@functools.cache
def _madvise() -> Callable[[int, int, int], int] | None:
    if not sys.platform.startswith("linux"):
        return None
    advise: Callable[[int, int, int], int] | None = getattr(ctypes.CDLL(None), "madvise", None)
    if advise is not None:
        advise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]  # type: ignore[attr-defined]
    return advise


class Scratch:
    """Buffers for the intermediates of a piece, used again for the next piece.

    ``take`` is meant for the ``out`` argument of torch functions; it returns None, so that torch
    allocates as usual, where that is better: on accelerators, while compiling, or when all buffers
    are taken.

    >>> scratch = Scratch(torch.zeros(1), torch.float32, buffers=1)
    >>> scratch.start((2, 3))
    >>> torch.neg(torch.ones(2, 3), out=scratch.take()).sum().item()
    -6.0
    >>> scratch.take() is None
    True
    """

    def __init__(self, like: Tensor, dtype: torch.dtype, buffers: int) -> None:
        usable = like.device.type == "cpu" and not torch.compiler.is_compiling()
        self._number = buffers if usable else 0
        self._memory = like.new_empty((self._number, 0), dtype=dtype)
        self._shape: tuple[int, ...] = ()
        self._views: list[Tensor] = []
        self._free: list[Tensor] = []

    def start(self, shape: tuple[int, ...]) -> None:
        """Give all buffers free again, for a piece of ``shape``; they grow with the largest."""
        if shape != self._shape and self._number:
            elements = torch.Size(shape).numel()
            if elements > self._memory.shape[1]:
                self._memory = ask_for_huge_pages(self._memory.new_empty(self._number, elements))
            self._views = [buffer[:elements].view(shape) for buffer in self._memory]
            self._shape = shape
        self._free = list(self._views)

    def lend(self, first: Tensor, last: Tensor) -> None:
        """Add two tensors of the piece's shape: to be taken next, and when nothing else is left."""
        self._free.append(first)
        self._free.insert(0, last)

    def take(self) -> Tensor | None:
        """Return a buffer of the piece's shape, or None."""
        return self._free.pop() if self._free else None
