"""Lesions one by one: found or missed, and how well their probabilities are calibrated."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import cc3d
import numpy as np
from numpy.typing import NDArray

from gradsurge.calibration.regions import Mask, bounding_box, check_masks, check_spacing, slabs
from gradsurge.calibration.whole_numbers import check_whole_number

_CONNECTIVITIES = {2: (8, 4), 3: (26, 18, 6)}  # the first is the default


@dataclass(frozen=True)
class Lesion:
    """A connected component of the label.

    Attributes:
        case: name of the case.
        volume: voxels times the size of a voxel: mm^3, in 2D mm^2, voxels for unit spacing.
        voxels: number of voxels.
        detected: whether at least one of its voxels is predicted.
        ece: calibration error of the positive class on its voxels. The label is 1 on all of them,
            so the gap of a bin is 1 - mean p, and the error is 1 - mean_probability whatever the
            bins: a shortfall of confidence, never an excess.
        top_label_ece: the same with confidence max(p, 1-p) against being right, p > 0.5, as the
            paper's profile has it; here sure misses count as overconfident.
        mean_probability: mean p of its voxels.
        centroid: mean index of its voxels along each axis of the array.
    """

    case: str
    volume: float
    voxels: int
    detected: bool
    ece: float
    top_label_ece: float
    mean_probability: float
    centroid: tuple[float, ...]


@dataclass(frozen=True)
class CaseLesions:
    """The lesions of a case; how many components the prediction has, and how many are false."""

    lesions: list[Lesion]
    predicted_components: int
    false_positives: int


def find_lesions(
    probabilities: NDArray[np.floating],
    label: Mask,
    prediction: Mask,
    spacing: Sequence[float],
    *,
    case: str = "",
    connectivity: int | None = None,
    bins: int = 15,
) -> CaseLesions:
    """Return every connected component of the label with its detection and calibration.

    Args:
        probabilities: p of the positive class, (*S), 2D or 3D.
        label: bool (*S).
        prediction: the hard mask, bool (*S). Its components that share no voxel with the label
            count as false positives.
        spacing: size of a voxel along each axis of the array, in mm.
        case: name to put on the lesions.
        connectivity: 26, 18 or 6 neighbours in 3D, 8 or 4 in 2D; by default the most.
        bins: equal bins (lo, hi] of the calibration errors.

    >>> label = np.array([[True, True, False, True]])
    >>> p = np.array([[0.9, 0.4, 0.2, 0.3]])
    >>> found = find_lesions(p, label, p > 0.5, spacing=(1.0, 1.0))
    >>> [(x.volume, x.detected, round(x.ece, 4)) for x in found.lesions]
    [(2.0, True, 0.35), (1.0, False, 0.7)]
    """
    check_masks(label=label, prediction=prediction)
    voxel = math.prod(check_spacing(spacing, label.ndim))
    neighbours = _check(probabilities, label, connectivity, bins)
    box, predicted = _components_in_box(prediction, neighbours)
    number = int(predicted.max(initial=0))
    false = number - int(np.count_nonzero(np.unique(predicted[label[box]])))
    box, components = _components_in_box(label, neighbours)
    if components.size == 0:
        return CaseLesions([], number, false)
    sums = _sums(probabilities[box], prediction[box], components, bins)
    middle = cc3d.statistics(components, no_slice_conversion=True)["centroids"]
    middle = (middle + [side.start for side in box]).tolist()
    lesions = [
        Lesion(case, n * voxel, n, hits > 0, gap / n, top_gap / n, p / n, tuple(middle[i]))
        for i, (n, hits, p, gap, top_gap) in enumerate(sums)
        if i > 0  # 0 is the background
    ]
    return CaseLesions(lesions, number, false)


def _check(
    probabilities: NDArray[np.floating], label: Mask, connectivity: int | None, bins: int
) -> int:
    """Return the connectivity to use; raise unless the arguments fit."""
    if probabilities.shape != label.shape:
        raise ValueError(
            f"probabilities: expected the positive class in the shape of label, {label.shape}, "
            f"got {probabilities.shape}"
        )
    check_whole_number("bins", bins)
    if bins < 1:
        raise ValueError(f"bins: expected a whole number >= 1, got {bins!r}")
    allowed = _CONNECTIVITIES[label.ndim]
    if connectivity is not None and connectivity not in allowed:
        raise ValueError(
            f"connectivity: expected one of {allowed} in {label.ndim}D, got {connectivity!r}"
        )
    return connectivity or allowed[0]


def _components_in_box(mask: Mask, neighbours: int) -> tuple[tuple[slice, ...], NDArray[Any]]:
    """Return the box round the mask, and in it the number of each voxel's component, from 1."""
    box = bounding_box(mask, margin=[0] * mask.ndim)
    if box is None:
        return (slice(0, 0),) * mask.ndim, np.zeros((0,) * mask.ndim, np.uint16)
    return box, numbered_components(mask[box], neighbours)


def numbered_components(mask: Mask, neighbours: int) -> NDArray[Any]:
    """Return the mask with its connected components numbered from 1."""
    # Bytes, and no view: cc3d 4.1.1 joins or divides components of boolean images of odd width, and
    # loses those of a box with sides of one voxel that is cut out of an array.
    voxels = np.ascontiguousarray(mask).view(np.uint8)
    numbered: NDArray[Any] = cc3d.connected_components(voxels, connectivity=neighbours)
    return numbered


def _sums(
    probabilities: NDArray[np.floating], prediction: Mask, components: NDArray[Any], bins: int
) -> Iterator[tuple[Any, ...]]:
    """Yield by component: voxels, predicted voxels, sum of p, sums over bins of the two gaps."""
    number = int(components.max()) + 1
    voxels, hits, total = (np.zeros(number, kind) for kind in (np.int64, np.int64, np.float64))
    gap, top_gap = np.zeros((number, bins)), np.zeros((number, bins))
    for slab in slabs(components.shape):
        inside = components[slab] > 0
        ids = components[slab][inside].astype(np.int64)
        p = probabilities[slab][inside].astype(np.float64)
        if not ((p >= 0) & (p <= 1)).all():
            raise ValueError("probabilities: expected values in [0, 1], got others or NaN")
        right, sure = p > 0.5, np.maximum(p, 1 - p)
        voxels += np.bincount(ids, minlength=number)
        hits += np.bincount(ids[prediction[slab][inside]], minlength=number)
        total += np.bincount(ids, p, number)
        gap += _by_bin(ids, p, 1 - p, gap.shape)
        top_gap += _by_bin(ids, sure, right - sure, gap.shape)
    gaps = (np.abs(g).sum(axis=1).tolist() for g in (gap, top_gap))
    return zip(voxels.tolist(), hits.tolist(), total.tolist(), *gaps, strict=True)


def _by_bin(
    ids: NDArray[np.int64],
    confidence: NDArray[np.float64],
    gap: NDArray[np.float64],
    shape: tuple[int, ...],
) -> NDArray[Any]:
    """Sum the gaps by component and by bin (lo, hi] of the confidence; 0 is in the first."""
    index = np.maximum(np.ceil(confidence * shape[1]).astype(np.int64) - 1, 0)
    return np.bincount(ids * shape[1] + index, gap, math.prod(shape)).reshape(shape)
