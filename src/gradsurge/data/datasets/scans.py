"""Scans and labels of a case, read and checked against each other."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.case_error import CaseError, shown
from gradsurge.data.formats import StoredImage, read_stored
from gradsurge.data.formats.picture import read_picture
from gradsurge.data.geometry import check_geometry
from gradsurge.data.preprocessing import distinct_classes
from gradsurge.data.volume import Volume

_MOST_LISTED = 8


def read_scan(file: Path) -> Volume:
    """Return one channel, float32 (*S), flat or a volume; integers as the header scales them.

    Raises:
        CaseError: unreadable, of four or more axes, or with NaN or infinite values.
    """
    return scan_of(read_stored(Path(file)), Path(file))


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


def read_channels(files: Sequence[Path], label: Volume) -> NDArray[np.float32]:
    """Return the scans of a case as (C, *S), all on the label's grid.

    Raises:
        CaseError: one cannot be read, or lies on another grid than the label.
    """
    image: NDArray[np.float32] | None = None
    for index, file in enumerate(files):
        scan = read_scan(file)
        check_geometry(Volume(scan.array[None], scan.spacing, scan.affine, file), label)
        if image is None:
            image = np.empty((len(files), *scan.array.shape), np.float32)
        image[index] = scan.array
    assert image is not None, "a case has at least one file"
    return image


def read_colours(file: Path, shape: tuple[int, ...] | None = None) -> NDArray[Any]:
    """Return a picture as (3, rows, columns), grey repeated, of the label's shape if told.

    Raises:
        CaseError: it cannot be read, or its size is not the label's.
    """
    picture = read_picture(file)
    if shape is not None and picture.shape[1:] != shape:
        raise CaseError(
            f"{shown(file)}: has {_size(picture.shape[1:])} pixels but its label {_size(shape)}; "
            f"nothing is resampled before they agree"
        )
    return picture if len(picture) == 3 else np.repeat(picture, 3, axis=0)


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
        listed = ", ".join(map(str, odd[:_MOST_LISTED])) + (", ..." if len(odd) > 8 else "")
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
        raise CaseError(f"expected a file for {role!r}, got {', '.join(files) or 'none'}")
    return files[role]


def _size(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))
