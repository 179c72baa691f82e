"""Labels of a batch, handed out piece by piece as the arithmetic needs them."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Labels:
    """Labels with what is not to be learnt from.

    Args:
        values: class indices (N, V), or one label a channel (N, C, V).
        ignore_index: the label of what is not labelled.
        mask: True where a voxel counts: (N, V), or (N, 1, V) / (N, C, V) beside channel labels.
        soft: whether a label may lie strictly between 0 and 1.
        checked: whether the values are known to be what they should be.
    """

    values: Tensor
    ignore_index: int | None = None
    mask: Tensor | None = None
    soft: bool = False
    checked: bool = False

    def foreground(
        self, at: tuple[slice, ...], dtype: torch.dtype, out: Tensor | None = None
    ) -> Tensor:
        """Return the piece as 0/1 (or soft) labels, in ``out`` if given; ignored voxels are 0."""
        piece = self.values[at]
        if not (self.soft or self.checked):  # a 255 counts as background, not as 255 foregrounds
            return (piece == 1).to(dtype)
        labels = piece.to(dtype) if out is None else out.copy_(piece)
        if self.ignore_index is None:
            return labels
        return labels.masked_fill(piece == self.ignore_index, 0.0)

    def one_hot(self, at: tuple[slice, ...], classes: int, dtype: torch.dtype) -> Tensor:
        """Return the piece as (N, C, V); a label outside the classes becomes a row of zeros."""
        piece = self.values[at].unsqueeze(1)
        numbers = torch.arange(classes, device=piece.device).view(1, -1, 1)
        if piece.is_floating_point():  # may be anything, NaN too, where it does not count
            return (piece == numbers).to(dtype)
        # 1 - min(1, distance) of whole numbers: a third of the time of comparing them.
        return (piece.to(dtype) - numbers).abs_().clamp_max_(1.0).neg_().add_(1.0)

    def between(self) -> Tensor:
        """Return whether a label that counts lies strictly between 0 and 1, as a tensor."""
        found = self.values.frac()  # in one pass: labels are shares, or a whole number to ignore
        return (found if self.mask is None else (found != 0) & self.mask).any()

    def valid(self, at: tuple[slice, ...], dtype: torch.dtype) -> Tensor | None:
        """Return 1 where the piece counts and 0 where not; None if all of it counts."""
        if self.mask is None and self.ignore_index is None:
            return None
        kept = torch.ones((), dtype=torch.bool, device=self.values.device)
        if self.mask is not None:
            kept = self.mask[at]
        if self.ignore_index is not None:
            kept = kept & (self.values[at] != self.ignore_index)
        return kept.to(dtype)
