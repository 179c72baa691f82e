"""Augmentation of a patch: drawn before the patch is read, applied afterwards."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from gradsurge.data.augmentation.affine import Affine, AffineChances, draw_affine
from gradsurge.data.augmentation.arrays import Arrays
from gradsurge.data.augmentation.global_draws import global_draws
from gradsurge.data.augmentation.reach import Pairs, reached_box, sampling_grid
from gradsurge.data.augmentation.resampling import resample

Intensity = Callable[[Tensor], Tensor]
"""Changes an image (C, *P), in place or not; may draw from NumPy's and torch's generators."""


class Plan(NamedTuple):
    """Where a patch comes from.

    Attributes:
        start: of the patch in its case.
        affine: how it is rotated and scaled, if it is.
        box: what must be read of the case.
    """

    start: tuple[int, ...]
    affine: Affine | None
    box: Pairs


@dataclass(frozen=True)
class Augmentation:
    """Rotation and scaling, then intensities, then mirroring, of patches of one size.

    Attributes:
        size: of the patches, P.
        affine: chances of rotation and scaling.
        make_intensity: returns what is done to the intensities; called once a process, because
            what it imports takes seconds.
        mirror: whether each axis is mirrored in half of the patches.
    """

    size: tuple[int, ...]
    affine: AffineChances
    make_intensity: Callable[[], Intensity] | None
    mirror: bool

    @cached_property
    def intensity(self) -> Intensity | None:
        """What is done to the intensities."""
        return None if self.make_intensity is None else self.make_intensity()

    def plan(self, start: Sequence[int], rng: np.random.Generator) -> Plan:
        """Draw how the patch at ``start`` is rotated and scaled."""
        affine = draw_affine(self.affine, len(self.size), rng)
        return Plan(tuple(start), affine, reached_box(start, self.size, affine))

    def apply(self, arrays: Arrays, plan: Plan, rng: np.random.Generator) -> Arrays:
        """Return the augmented patch (C, *P) of what was read of the plan's box.

        The image may be changed in place.
        """
        if plan.affine is not None:
            grid = sampling_grid(plan.start, self.size, plan.affine, plan.box)
            arrays = resample(arrays, grid)
        if self.intensity is not None:
            with global_draws(rng):
                arrays = arrays._replace(image=self.intensity(arrays.image))
        return _mirrored(arrays, len(self.size), rng) if self.mirror else arrays


def _mirrored(arrays: Arrays, axes: int, rng: np.random.Generator) -> Arrays:
    chosen = [-axes + i for i in range(axes) if rng.random() < 0.5]
    if not chosen:
        return arrays
    extras = {name: torch.flip(extra, chosen) for name, extra in arrays.extras.items()}
    return Arrays(torch.flip(arrays.image, chosen), torch.flip(arrays.label, chosen), extras)
