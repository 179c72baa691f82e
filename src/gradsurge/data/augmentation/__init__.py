"""Augmentation of patches; `AUGMENTATIONS` maps names to presets."""

from collections.abc import Callable, Sequence

from gradsurge.data.augmentation.affine import AffineChances
from gradsurge.data.augmentation.arrays import Arrays
from gradsurge.data.augmentation.augmentation import Augmentation, Plan
from gradsurge.data.augmentation.light import light
from gradsurge.data.augmentation.nnunet import nnunet
from gradsurge.data.augmentation.none import none

AUGMENTATIONS: dict[str, Callable[[Sequence[int]], Augmentation]] = {
    "nnunet": nnunet,
    "light": light,
    "none": none,
}


def make_augmentation(name: str, size: Sequence[int]) -> Augmentation:
    """Return a preset for patches of a size.

    Raises:
        ValueError: there is no such preset, or it does not go with the size.
    """
    if name not in AUGMENTATIONS:
        known = ", ".join(AUGMENTATIONS)
        raise ValueError(f"augmentation: unknown {name!r}; known: {known}")
    return AUGMENTATIONS[name](size)


__all__ = [
    "AUGMENTATIONS",
    "AffineChances",
    "Arrays",
    "Augmentation",
    "Plan",
    "light",
    "make_augmentation",
    "nnunet",
    "none",
]
