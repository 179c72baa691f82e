"""View (N, C, *S) tensors as (N, C, V) without copying, whichever memory format they have."""

import torch
from torch import Tensor

from gradsurge.surgery.memory import ask_for_huge_pages


def empty_planes(like: Tensor) -> tuple[Tensor, Tensor]:
    """Return an uninitialised tensor like ``like`` and its (N, C, V) view, to be written to.

    Channels-last stays channels-last; every other layout becomes contiguous.

    >>> import torch
    >>> full, planes = empty_planes(torch.zeros(2, 3, 4, 5))
    >>> full.shape, planes.shape
    (torch.Size([2, 3, 4, 5]), torch.Size([2, 3, 20]))
    """
    n, c, *spatial = like.shape
    voxels = like[0, 0].numel()
    if like.stride(1) == 1 and c > 1:
        planes = ask_for_huge_pages(like.new_empty(n, voxels, c)).transpose(1, 2)
    else:
        planes = ask_for_huge_pages(like.new_empty(n, c, voxels))
    return planes.unflatten(2, spatial), planes


def foreground_of(out: Tensor, dtype: torch.dtype) -> Tensor | None:
    """Return the place of the foreground's field in (N, 2, V) ``out``, if computed in ``dtype``."""
    fits = out.dtype == dtype and not torch.compiler.is_compiling()
    return out[:, 1] if fits else None


def write_pair(out: Tensor, foreground: Tensor) -> None:
    """Complete a two-class field in (N, 2, V) ``out``: background's is the negative.

    ``foreground`` may be the very place that `foreground_of` returned.
    """
    if foreground_of(out, foreground.dtype) is None:
        out[:, 1] = foreground
        out[:, 0] = -foreground
        return
    if foreground.data_ptr() != out[:, 1].data_ptr():
        out[:, 1] = foreground
    torch.neg(foreground, out=out[:, 0])
