"""Scans and labels of a case, read and checked against each other."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.case_error import CaseError, shown
from gradsurge.data.formats import StoredImage, read_stored
from gradsurge.data.formats.dicom_series import read_series
from gradsurge.data.formats.picture import read_picture
from gradsurge.data.geometry import check_geometry
from gradsurge.data.preprocessing import distinct_classes
from gradsurge.data.volume import Volume

_MOST_LISTED = 8


def read_scan(file: Path) -> Volume:
    """Return one channel, float32 (*S), flat or a volume; integers as the header scales them.

    Args:
        file: or the folder of a DICOM series.

    Raises:
        CaseError: unreadable, of four or more axes, or with NaN or infinite values.
    """
    file = Path(file)
    return scan_of(read_series(file) if file.is_dir() else read_stored(file), file)


def scan_of(stored: StoredImage, file: Path) -> Volume:
    """Return what a file holds as one channel; `read_scan` with the reading done."""
    array = stored.array
    while array.ndim > 3 and array.shape[-1] == 1:
        array = array[..., 0]
    if array.ndim not in (2, 3):
        raise CaseError(
            f"{shown(file)}: has {array.ndim} axes, shape {stored.array.shape}; expected one "
            f"flat image or volume a file: split channels and time points into files of their own"
        )
    with np.errstate(all="ignore"):  # what overflows is told below
        values = array.astype(np.float32)
        if stored.scaled:
            values = values * np.float32(stored.slope) + np.float32(stored.intercept)
    odd = values.size - int(np.isfinite(values).sum())
    if odd:
        raise CaseError(
            f"{shown(file)}: {odd:,} of {values.size:,} values are NaN or infinite; replace them "
            f"(by the value of air, say) and write it again"
        )
    spacing = None if stored.spacing is None else stored.spacing[: values.ndim]
    return Volume(values, spacing, stored.affine, file)


def read_channels(files: Sequence[Path], dimensions: int) -> Volume:
    """Return the scans of a case as one (C, *S), all on the grid of the first.

    Raises:
        CaseError: one cannot be read, has another number of axes, or lies on another grid.
    """
    first: Volume | None = None
    image: NDArray[np.float32] | None = None
    for index, file in enumerate(files):
        scan = read_scan(file)
        if scan.array.ndim != dimensions:
            raise CaseError(
                f"{shown(file)}: has shape {scan.array.shape}; expected {dimensions} axes, as all "
                f"of the data set have"
            )
        if first is None or image is None:
            first, image = scan, np.empty((len(files), *scan.array.shape), np.float32)
        else:
            alone = replace(scan, array=scan.array[None])
            check_geometry(alone, first, f"the first channel's ({shown(Path(files[0].name))})")
        image[index] = scan.array
    if first is None or image is None:
        raise CaseError("expected at least one image file, got none")
    return replace(first, array=image)


def first_channel(image: Volume) -> Volume:
    """Return the first channel (*S) of (C, *S): the grid of them all."""
    return replace(image, array=image.array[0])


def read_colours(file: Path) -> NDArray[Any]:
    """Return a picture as (3, rows, columns), grey repeated.

    Raises:
        CaseError: it cannot be read.
    """
    picture = read_picture(file)
    return picture if len(picture) == 3 else np.repeat(picture, 3, axis=0)


def check_pixels(file: Path, shape: tuple[int, ...], label: tuple[int, ...]) -> None:
    """Raise CaseError unless a picture has the shape of its label."""
    if shape != label:
        raise CaseError(
            f"{shown(file)}: has {_size(shape)} pixels but its label {_size(label)}; nothing is "
            f"resampled before they agree: make them one size"
        )


def check_classes(label: Volume, declared: Collection[int], where: str) -> None:
    """Raise unless the label holds declared class numbers only.

    Args:
        label: class numbers (*S).
        declared: what may be there.
        where: who declares them, for the message.

    Raises:
        CaseError: with the undeclared numbers.
    """
    odd = [n for n in distinct_classes(label.array) if n not in declared]
    if odd:
        more = ", ..." if len(odd) > _MOST_LISTED else ""
        listed = ", ".join(map(str, odd[:_MOST_LISTED])) + more
        raise CaseError(
            f"{shown(label.source)}: holds class {listed}, but {where} declares "
            f"{', '.join(map(str, sorted(declared)))}; correct the label or declare the class"
        )


def check_not_empty(label: NDArray[Any], file: Path, what: str) -> None:
    """Raise CaseError if nothing is drawn, where every case of the data set has something."""
    if not label.any():
        raise CaseError(
            f"{shown(file)}: is empty, but every case of this data set has {what}; get the file "
            f"again from its publisher"
        )


def file_of(files: Mapping[str, Path], role: str) -> Path:
    """Return the file of a role; `CaseError` if a case was put together without it."""
    if role not in files:
        raise CaseError(
            f"expected a file for {role!r}, got {', '.join(files) or 'none'}; find the case again"
        )
    return files[role]


def _size(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))
