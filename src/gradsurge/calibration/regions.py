"""Which voxels count: everything, the active region, a mask, or a band round the boundary."""

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]

# "mask" is a mask file of the user's; the others are computed.
REGIONS = ("all", "active", "mask", "band")

# Distances such as 3 * 0.7 mm must count as 2.1 mm whatever their last bit.
_SLACK = 1e-9
_SLAB = 1 << 21  # voxels


def active_region(label: Mask, prediction: Mask) -> Mask:
    """Return the union of label and hard prediction, bool (*S).

    It leaves out the easy background, and it depends on the model: two models are scored on
    different voxels, and one that predicts more makes its own region larger. Compare models on it
    with that in mind.

    >>> active_region(np.array([[True, True, False]]), np.array([[False, True, False]])).tolist()
    [[True, True, False]]
    """
    check_masks(label=label, prediction=prediction)
    return label | prediction


def boundary_band(label: Mask, spacing: Sequence[float], width_mm: float) -> Mask:
    """Return the voxels within ``width_mm`` of the label's boundary, on both sides, bool (*S).

    The distance of a voxel is the one between its centre and the centre of the nearest voxel of
    the other kind, so a voxel at the boundary is one spacing away, and a width below the smallest
    spacing gives an empty band. An empty or a full label has no boundary: its band is empty.

    Args:
        label: bool (*S), 2D or 3D. Several classes: pass their union, or each by itself.
        spacing: size of a voxel along each axis of the array, in mm.
        width_mm: largest distance that counts, > 0.

    >>> line = np.array([[False, False, True, True, True, True, True]])
    >>> boundary_band(line, spacing=(1.0, 0.5), width_mm=1.0).astype(int).tolist()
    [[1, 1, 1, 1, 0, 0, 0]]
    """
    from scipy.ndimage import distance_transform_edt

    check_masks(label=label)
    size = check_spacing(spacing, label.ndim)
    if not (math.isfinite(width_mm) and width_mm > 0):
        raise ValueError(f"width_mm: expected a finite number > 0, got {width_mm}")
    band = np.zeros_like(label)
    # No voxel further out is near enough, and the layer round the box holds the nearest background.
    box = bounding_box(label, margin=[math.ceil(width_mm / s) for s in size])
    if box is None:
        return band
    inside = label[box]
    if inside.all():
        return band
    distance = distance_transform_edt(inside, sampling=size)
    distance += distance_transform_edt(~inside, sampling=size)  # each is 0 where the other is not
    band[box] = distance <= width_mm * (1 + _SLACK)
    return band


def bounding_box(mask: Mask, margin: Sequence[int]) -> tuple[slice, ...] | None:
    """Return the smallest box round the mask, grown by ``margin`` within the array; None if empty.

    >>> bounding_box(np.array([[False, True, False, False]]), margin=(2, 1))
    (slice(0, 1, None), slice(0, 3, None))
    """
    tight: list[slice] = []
    for axis in range(mask.ndim):
        others = tuple(a for a in range(mask.ndim) if a != axis)
        hit = np.flatnonzero(mask[tuple(tight)].any(axis=others))  # the box so far: less to read
        if hit.size == 0:
            return None
        tight.append(slice(int(hit[0]), int(hit[-1]) + 1))
    return tuple(
        slice(max(side.start - m, 0), min(side.stop + m, length))
        for side, m, length in zip(tight, margin, mask.shape, strict=True)
    )


def slabs(shape: Sequence[int]) -> Iterator[slice]:
    """Cut the first axis into slabs of some million voxels, to look at a volume piece by piece."""
    step = max(_SLAB // max(math.prod(shape[1:]), 1), 1)
    return (slice(i, i + step) for i in range(0, shape[0], step))


def check_masks(**masks: Mask) -> None:
    """Raise unless all are bool arrays of one 2D or 3D shape; the keywords name them."""
    (first, reference), *_ = masks.items()
    for name, mask in masks.items():
        came = getattr(mask, "dtype", type(mask).__name__)
        if came != np.bool_:
            raise TypeError(
                f"{name}: expected a bool array, got {came}; compare first, e.g. {name} == 1"
            )
        if mask.shape != reference.shape:
            raise ValueError(
                f"{name}: expected the shape of {first}, {reference.shape}, got {mask.shape}"
            )
    if reference.ndim not in (2, 3):
        raise ValueError(
            f"{first}: expected one case in 2D or 3D, got shape {reference.shape}; "
            "remove batch and channel axes"
        )


def check_spacing(spacing: Sequence[float], dimensions: int) -> tuple[float, ...]:
    """Return the spacing as floats; raise unless there is one number > 0 an axis."""
    size = tuple(float(s) for s in spacing)
    if len(size) != dimensions or not all(math.isfinite(s) and s > 0 for s in size):
        raise ValueError(
            f"spacing: expected {dimensions} finite numbers > 0, one an axis of the array, "
            f"got {size}"
        )
    return size
