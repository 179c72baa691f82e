"""Where a patch lies in its case."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def random_start(
    shape: Sequence[int], size: Sequence[int], rng: np.random.Generator
) -> tuple[int, ...]:
    """Return the start of a patch anywhere inside; a case smaller than the patch is centred.

    >>> random_start((5, 9), (5, 13), np.random.default_rng(0))
    (0, -2)
    """
    return tuple(
        int(rng.integers(n - p + 1)) if n >= p else (n - p) // 2
        for n, p in zip(shape, size, strict=True)
    )


def foreground_start(
    shape: Sequence[int],
    size: Sequence[int],
    locations: Mapping[int, NDArray[Any]],
    rng: np.random.Generator,
) -> tuple[int, ...]:
    """Return the start of a patch about a voxel of the foreground.

    One of the classes that the case has is drawn, each as likely as the others, then one of its
    voxels. The patch has it in the middle unless it would leave the case: then it is moved inside.
    (nnU-Net moves it at the lower borders alone and pads at the upper ones.) A case without
    foreground gives a patch anywhere.
    """
    classes = sorted(number for number, voxels in locations.items() if len(voxels))
    if not classes:
        return random_start(shape, size, rng)
    voxels = locations[classes[int(rng.integers(len(classes)))]]
    voxel = voxels[int(rng.integers(len(voxels)))].tolist()
    return tuple(
        min(max(v - p // 2, 0), n - p) if n >= p else (n - p) // 2
        for v, n, p in zip(voxel, shape, size, strict=True)
    )
