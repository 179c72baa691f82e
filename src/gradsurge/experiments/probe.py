"""The field of a loss on a few extra voxels, while the rest of an image stays as it is."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn


class Example(NamedTuple):
    """An image in which all voxels of a label have one probability of being foreground."""

    foreground: int
    background: int
    p_foreground: float
    p_background: float

    @property
    def voxels(self) -> int:
        """How many voxels the image has."""
        return self.foreground + self.background


# Appendix B of the paper. One voxel more moves its global terms by a tenth.
SMALL = Example(foreground=2, background=98, p_foreground=0.8, p_background=0.1)
# A half-trained network. One voxel more moves the global terms by a few parts in a thousand, so
# that the curves show what a voxel of a real image feels.
LARGE = Example(foreground=200, background=1800, p_foreground=0.8, p_background=0.05)


def probe_field(loss: nn.Module, example: Example, p: Tensor, labels: Sequence[int]) -> Tensor:
    """Return what flows back to the foreground logits of the extra voxels, (M, K).

    It is dL/dz for a plain loss and the operated field for one with surgery, by the loss's own
    backward pass. Each of the M settings is an image of its own.

    Args:
        loss: a mean over samples, loss(logits, target) -> scalar, of two-class logits.
        example: the rest of the image.
        p: foreground probabilities of the K extra voxels in M settings, (M, K), inside (0, 1).
        labels: 0 or 1 for each of the K extra voxels.

    >>> from gradsurge.losses import make_loss
    >>> half = torch.full((1, 1), 0.5, dtype=torch.float64)
    >>> probe_field(make_loss("ce"), SMALL, half, [1]).item() * 101  # p - y, of 101 voxels
    -0.5
    """
    settings, probes = p.shape
    ends = (example.p_foreground, example.foreground), (example.p_background, example.background)
    rest = torch.cat([torch.full((n,), value, dtype=p.dtype) for value, n in ends])
    foreground = torch.cat((p, rest.expand(settings, -1)), dim=1).logit().requires_grad_()
    label = [1] * example.foreground + [0] * example.background
    target = torch.tensor([*labels, *label]).expand(settings, -1)
    logits = torch.stack((torch.zeros_like(foreground), foreground), dim=1)
    (field,) = torch.autograd.grad(loss(logits, target), foreground)
    return field[:, :probes] * settings
