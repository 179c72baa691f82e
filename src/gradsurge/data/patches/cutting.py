"""One patch of a case: read, augmented."""

from collections.abc import Sequence

import numpy as np
import torch

from gradsurge.data.augmentation import Arrays, Augmentation
from gradsurge.data.store import Box, StoredCase


def cut_patch(
    case: StoredCase,
    start: Sequence[int],
    augmentation: Augmentation,
    rng: np.random.Generator,
    extras: Sequence[str] = (),
) -> Arrays:
    """Return the patch at ``start``, augmented; no more of the case is read than it needs.

    Args:
        case: of a store.
        start: first voxel along each axis; the patch may leave the case.
        augmentation: tells the size too.
        rng: what the augmentation draws from.
        extras: names of further arrays to cut out; they move with the image.
    """
    plan = augmentation.plan(start, rng)
    return augmentation.apply(read_arrays(case, plan.box, extras), plan, rng)


def read_arrays(case: StoredCase, box: Box, extras: Sequence[str] = ()) -> Arrays:
    """Return what lies in a box of a case."""
    return Arrays(
        torch.from_numpy(case.read_image(box)),
        torch.from_numpy(case.read_label(box)),
        {name: torch.from_numpy(case.read_extra(name, box)) for name in extras},
    )
