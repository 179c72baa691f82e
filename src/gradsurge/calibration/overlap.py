"""Overlap of hard masks: Dice, and the distance between their surfaces."""

import math
import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gradsurge.calibration.regions import Mask, bounding_box, check_masks, check_spacing


class SurfaceScores(NamedTuple):
    """Normalised surface distance (1 is best) and 95 % Hausdorff distance in mm (0 is best)."""

    nsd: float
    hd95: float


def dice(prediction: Mask, label: Mask) -> float:
    """Return 2 |A and B| / (|A| + |B|) of two bool masks (*S): one case, one class.

    If both are empty nothing can overlap and the score is NaN, not 1: how often a model is rightly
    silent says something about the data, and would drown the other cases in the mean. Count these
    cases, and report them beside the mean of the rest. If one of the two is empty the score is 0.

    >>> dice(np.array([[True, True, False]]), np.array([[False, True, True]]))
    0.5
    """
    check_masks(prediction=prediction, label=label)
    both, *each = (int(np.count_nonzero(m)) for m in (prediction & label, prediction, label))
    return 2 * both / sum(each) if any(each) else math.nan


def surface_scores(
    prediction: Mask, label: Mask, spacing: Sequence[float], tolerance_mm: float
) -> SurfaceScores:
    """Return how near the surfaces of two masks are, by MONAI.

    The surface is the set of voxels of a mask with a face at its outside (or at the edge of the
    image); each has a distance to the nearest voxel of the other surface.

    - NSD: share of the voxels of both surfaces with a distance of at most ``tolerance_mm``.
    - HD95: the 95th percentile of the distances in either direction, the larger of the two.

    Both empty: NaN and NaN. One empty: 0 and inf. Distances are float32 inside MONAI.

    Args:
        prediction: bool (*S), 2D or 3D.
        label: bool (*S).
        spacing: size of a voxel along each axis of the array, in mm.
        tolerance_mm: distance that still counts as right, >= 0; often the annotators' own.

    >>> label = np.zeros((8, 8), bool)
    >>> label[2:6, 2:6] = True
    >>> surface_scores(np.roll(label, 1, axis=0), label, spacing=(2.0, 2.0), tolerance_mm=1.0)
    SurfaceScores(nsd=0.5, hd95=2.0)
    """
    check_masks(prediction=prediction, label=label)
    size = check_spacing(spacing, label.ndim)
    if not (math.isfinite(tolerance_mm) and tolerance_mm >= 0):
        raise ValueError(f"tolerance_mm: expected a finite number >= 0, got {tolerance_mm}")
    present = int(prediction.any()) + int(label.any())
    if present < 2:
        return SurfaceScores(0.0, math.inf) if present else SurfaceScores(math.nan, math.nan)

    import torch
    from monai.metrics import compute_hausdorff_distance, compute_surface_dice

    # A mask ends at the edge of the box as at the edge of the image: cropping changes nothing.
    box = bounding_box(prediction | label, margin=[0] * label.ndim)
    a, b = (torch.from_numpy(np.ascontiguousarray(m[box])[None, None]) for m in (prediction, label))
    with warnings.catch_warnings():
        # MONAI 1.5 and 1.6 call their own deprecated option; goes with 1.7.
        warnings.filterwarnings("ignore", ".*always_return_as_numpy", FutureWarning)
        nsd = compute_surface_dice(a, b, [tolerance_mm], include_background=True, spacing=size)
        far = compute_hausdorff_distance(a, b, include_background=True, percentile=95, spacing=size)
    return SurfaceScores(nsd.item(), far.item())
