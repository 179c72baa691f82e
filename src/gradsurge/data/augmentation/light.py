"""A light augmentation for quick runs: hardly slower than none, and nothing to import."""

from collections.abc import Sequence

import torch
from torch import Tensor

from gradsurge.data.augmentation.affine import AffineChances
from gradsurge.data.augmentation.augmentation import Augmentation, Intensity

_SPREAD = 0.1  # of the factor about 1 and, in standard deviations, of the shift about 0


def light(size: Sequence[int]) -> Augmentation:
    """Return mirroring, rare small rotations and scalings, and a change of scale and level.

    Rotation (0.1; ±15°), scaling (0.1; 0.9 to 1.1); every channel is multiplied by 0.9 to 1.1 and
    shifted by up to a tenth of its standard deviation; mirroring along all axes (0.5 each).
    """
    return Augmentation(
        size=tuple(size),
        affine=AffineChances(0.1, 15.0, 0.1, (1 - _SPREAD, 1 + _SPREAD)),
        make_intensity=_intensity,
        mirror=True,
    )


def _intensity() -> Intensity:
    return scale_and_shift


def scale_and_shift(image: Tensor) -> Tensor:
    """Multiply and shift each channel of (C, *P), in place."""
    factors, shifts = (2 * torch.rand(2, len(image)) - 1) * _SPREAD
    for channel, factor, shift in zip(image, factors, shifts, strict=True):
        # One voxel has no standard deviation of the usual kind.
        channel.mul_(1 + factor).add_(shift * channel.std(correction=0))
    return image
