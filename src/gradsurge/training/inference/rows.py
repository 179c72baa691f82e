"""Sums along the first axis of an image, of which only the rows still worked on need be kept."""

from collections.abc import Sequence

import torch
from torch import Tensor


class AllRows:
    """Sums (N, *S) of a whole image, from 0.

    Attributes:
        values: the rows that are kept.
    """

    def __init__(self, channels: int, shape: Sequence[int], device: torch.device) -> None:
        self.values = torch.zeros((channels, *shape), device=device)
        self._first = 0

    def box(self, start: Sequence[int], size: Sequence[int]) -> Tensor:
        """Return the view (N, *size) at ``start`` of the image."""
        corner = (start[0] - self._first, *start[1:])
        boxes = (slice(c, c + n) for c, n in zip(corner, size, strict=True))
        return self.values[(slice(None), *boxes)]

    def rows(self, start: int, stop: int) -> Tensor:
        """Return the view (N, stop - start, ...)."""
        return self.values[:, start - self._first : stop - self._first]

    def forget(self, before: int) -> None:
        """Say that rows before this one are not asked for again; a whole image keeps them."""


class RollingRows(AllRows):
    """The same with room for a few rows: what is forgotten makes room for what comes.

    Args:
        channels: N.
        shape: (*S) of the image.
        device: of the sums.
        kept: how many rows there is room for.
    """

    def __init__(
        self, channels: int, shape: Sequence[int], device: torch.device, *, kept: int
    ) -> None:
        super().__init__(channels, (kept, *shape[1:]), device)

    def forget(self, before: int) -> None:
        """Move the rows from ``before`` on to the front, and clear those behind them."""
        kept, moved = self.values.shape[1], before - self._first
        # In pieces that do not overlap: a copy of all rows would take their memory again.
        for row in range(moved, kept, max(moved, 1)):
            piece = self.values[:, row : row + moved]
            self.values[:, row - moved : row - moved + piece.shape[1]] = piece
        self.values[:, max(kept - moved, 0) :] = 0.0
        self._first = before
