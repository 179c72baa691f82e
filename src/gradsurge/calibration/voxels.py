"""Scores and labels of one call, brought to planes and handed out piece by piece."""

from collections.abc import Iterator

import torch
from numpy.typing import ArrayLike
from torch import Tensor

from gradsurge.calibration import inputs


class Voxels:
    """The voxels of one update of a sketch.

    Args:
        name: of the scores' argument, for errors.
        scores, labels, mask: as a sketch's update methods take them.
        kind, classes: those of the sketch.
    """

    def __init__(
        self,
        name: str,
        scores: ArrayLike | Tensor,
        labels: ArrayLike | Tensor,
        mask: ArrayLike | Tensor | None,
        kind: str,
        classes: int,
    ) -> None:
        self.multilabel = kind == "multilabel"
        given = inputs.as_tensor("labels", labels)
        self.scores, self.labels = inputs.planes(
            name, inputs.as_tensor(name, scores), given, kind, classes
        )
        voxels = given.shape[:1] + given.shape[2:] if self.multilabel else given.shape
        self.mask = inputs.as_mask(mask, voxels, len(self.scores))

    def chunks(self, size: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield scores (channels, V) and labels (V,), multilabel (channels, V), piece by piece."""
        for n in range(len(self.scores)):
            z, y = self.scores[n].flatten(1), self.labels[n]
            y = y.flatten(1) if self.multilabel else y.reshape(1, -1)
            flags = None if self.mask is None else self.mask[n]
            for start in range(0, z.shape[1], size):
                piece = slice(start, start + size)
                values, targets = z[:, piece], y[:, piece]
                if flags is not None:
                    values, targets = values[:, flags[piece]], targets[:, flags[piece]]
                if values.dtype not in (torch.float32, torch.float64):
                    values = values.float()
                yield values, targets if self.multilabel else targets[0]
