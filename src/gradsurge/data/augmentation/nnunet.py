"""nnU-Net's augmentation: the list of its trainer, in its order, with its probabilities."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from torch import Tensor

from gradsurge.data.augmentation.affine import AffineChances
from gradsurge.data.augmentation.augmentation import Augmentation, Intensity

_FLAT = 3  # longest side over the shortest, from which a patch is a stack of slices
_OBLONG = 1.5  # the same for pictures, from which they are turned by little
_SMALLEST = 4  # the blur mirrors three voxels at the borders


def nnunet(size: Sequence[int]) -> Augmentation:
    """Return nnU-Net's augmentation for patches of a size.

    Rotation (0.2; ±30° about each axis in 3D, ±180° in 2D), scaling (0.2; 0.7 to 1.4), noise (0.1),
    blur (0.2), brightness (0.15), contrast (0.15), low resolution (0.25), inverted gamma (0.1),
    gamma (0.3), mirroring along all axes (0.5 each). 3D patches more than three times as long as
    thick are rotated (±180°) and scaled in their planes only; pictures of more than 1.5 : 1 are
    rotated by ±15°.

    The blur is always a convolution, where nnU-Net times it against a Fourier transform as it goes:
    its choice depends on the clock, and with kernels of seven voxels the convolution is ten times
    as fast.

    Raises:
        ValueError: a side is too short.
    """
    if min(size) < _SMALLEST:
        raise ValueError(
            f"size: nnU-Net's augmentation needs {_SMALLEST} voxels along every axis, got "
            f"{tuple(size)}; use larger patches or the light augmentation"
        )
    flat = _flat_axis(size)
    return Augmentation(
        size=tuple(size),
        affine=AffineChances(0.2, _degrees(size, flat), 0.2, (0.7, 1.4), flat),
        make_intensity=partial(_intensity, flat),
        mirror=True,
    )


def _flat_axis(size: Sequence[int]) -> int | None:
    if len(size) == 2 or max(size) / min(size) <= _FLAT:
        return None
    return min(range(3), key=lambda axis: size[axis])


def _degrees(size: Sequence[int], flat: int | None) -> float:
    if len(size) == 2:
        return 15.0 if max(size) / min(size) > _OBLONG else 180.0
    return 30.0 if flat is None else 180.0


def _intensity(flat: int | None) -> Intensity:
    from batchgeneratorsv2.transforms.utils.compose import ComposeTransforms
    from batchgeneratorsv2.transforms.utils.random import RandomTransform

    compose = ComposeTransforms([RandomTransform(t, p) for t, p in _transforms(flat)])
    return partial(_apply, compose)


def _apply(transform: Any, image: Tensor) -> Tensor:
    changed: Tensor = transform(image=image)["image"]
    return changed


def _transforms(flat: int | None) -> list[tuple[Any, float]]:
    """Return nnU-Net's transforms of intensities, with the probability of each."""
    from batchgeneratorsv2.transforms.intensity.brightness import MultiplicativeBrightnessTransform
    from batchgeneratorsv2.transforms.intensity.contrast import BGContrast, ContrastTransform
    from batchgeneratorsv2.transforms.intensity.gamma import GammaTransform
    from batchgeneratorsv2.transforms.intensity.gaussian_noise import GaussianNoiseTransform
    from batchgeneratorsv2.transforms.noise.gaussian_blur import GaussianBlurTransform
    from batchgeneratorsv2.transforms.spatial.low_resolution import SimulateLowResolutionTransform

    each = {"synchronize_channels": False, "p_per_channel": 1}
    return [
        (GaussianNoiseTransform((0, 0.1), p_per_channel=1, synchronize_channels=True), 0.1),
        (
            GaussianBlurTransform(
                (0.5, 1.0), synchronize_channels=False, synchronize_axes=False, p_per_channel=0.5
            ),
            0.2,
        ),
        (MultiplicativeBrightnessTransform(BGContrast((0.75, 1.25)), **each), 0.15),
        (ContrastTransform(BGContrast((0.75, 1.25)), preserve_range=True, **each), 0.15),
        (
            SimulateLowResolutionTransform(
                (0.5, 1),
                synchronize_channels=False,
                synchronize_axes=True,
                ignore_axes=None if flat is None else (flat,),
                p_per_channel=0.5,
            ),
            0.25,
        ),
        (GammaTransform(BGContrast((0.7, 1.5)), p_invert_image=1, p_retain_stats=1, **each), 0.1),
        (GammaTransform(BGContrast((0.7, 1.5)), p_invert_image=0, p_retain_stats=1, **each), 0.3),
    ]
