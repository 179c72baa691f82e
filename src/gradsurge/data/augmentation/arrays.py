"""What augmentation works on: an image, its label, and whatever else lies on the same grid."""

from collections.abc import Mapping
from typing import NamedTuple

from torch import Tensor


class Arrays(NamedTuple):
    """A piece of a case.

    Attributes:
        image: float32 (C, *B).
        label: uint8 (*B).
        extras: name -> (*B) or (K, *B); floating ones are interpolated, uint8 ones are labels.
    """

    image: Tensor
    label: Tensor
    extras: Mapping[str, Tensor]
