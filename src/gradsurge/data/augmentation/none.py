"""No augmentation, for validation and comparisons."""

from collections.abc import Sequence

from gradsurge.data.augmentation.affine import AffineChances
from gradsurge.data.augmentation.augmentation import Augmentation


def none(size: Sequence[int]) -> Augmentation:
    """Return the augmentation that changes nothing."""
    return Augmentation(tuple(size), AffineChances(0.0, 0.0, 0.0, (1.0, 1.0)), None, mirror=False)
