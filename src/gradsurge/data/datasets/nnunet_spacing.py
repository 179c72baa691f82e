"""The spacing nnU-Net resamples a data set to."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gradsurge.data.case_error import CaseError
from gradsurge.data.datasets.raw_case import RawCase
from gradsurge.data.datasets.scans import read_scan
from gradsurge.data.formats.faults import reading
from gradsurge.data.formats.nifti import affine_in_mm, read_nifti_header
from gradsurge.data.preprocessing.orientation import turn_to_ras

_ANISOTROPIC = 3.0  # an axis this much coarser, and this much shorter, than the others
_LOW = 10  # percentile of the spacings along such an axis
Grid = tuple[tuple[float, ...], tuple[int, ...]]


def check_spacing(spacing: Any) -> tuple[float, ...]:
    """Return mm along each axis as floats.

    Raises:
        ValueError: they are none.
    """
    if isinstance(spacing, str):
        raise ValueError(f"spacing: expected mm or 'median', got {spacing!r}")
    if not all(np.isfinite(s) and s > 0 for s in spacing):
        raise ValueError(f"spacing: expected mm above 0, got {tuple(spacing)}")
    return tuple(float(s) for s in spacing)


def median_spacing(cases: Sequence[RawCase]) -> tuple[float, ...]:
    """Return nnU-Net's target spacing: the median, along each axis of the turned volumes.

    Where one axis is much coarser than the others, its 10th percentile is taken, but nothing finer
    than the others: thick slices would otherwise blur the thin ones.

    Raises:
        ValueError: the files do not tell their spacing.
    """
    known = [grid for case in cases if (grid := _grid_of(case.files["image"])) is not None]
    if not known:
        raise ValueError(
            "spacing: the median was asked for, but the files do not tell their spacing; leave it "
            "out, or give it in mm"
        )
    spacings = np.array([spacing for spacing, _ in known])
    sizes = np.median([size for _, size in known], axis=0)
    target = np.median(spacings, axis=0)
    worst = int(target.argmax())
    others = [axis for axis in range(len(target)) if axis != worst]
    finest = float(target[others].max())
    thick = target[worst] > _ANISOTROPIC * finest
    if thick and sizes[worst] * _ANISOTROPIC < sizes[others].min():
        target[worst] = max(float(np.percentile(spacings[:, worst], _LOW)), finest)
    return tuple(round(float(s), 6) for s in target)


def _grid_of(file: Path) -> Grid | None:
    """Return spacing and size along the turned axes; None if the file does not tell."""
    try:
        if not file.name.lower().endswith((".nii", ".nii.gz")):
            scan = read_scan(file)
            return None if scan.spacing is None else (scan.spacing, scan.array.shape)
        with reading(file, "NIfTI"):
            image = read_nifti_header(file)
            affine = affine_in_mm(image, file)
            turn, lengths = turn_to_ras(affine), np.linalg.norm(affine[:3, :3], axis=0)
            size = image.shape[:3]
    except CaseError:  # told when the case is loaded
        return None
    if turn is None or len(size) < 3:
        return None
    axes = turn[0]
    return tuple(float(lengths[a]) for a in axes), tuple(int(size[a]) for a in axes)
