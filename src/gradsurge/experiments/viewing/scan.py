"""The scan of a case, grey or in colours, as its file holds it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.case_error import CaseError, shown
from gradsurge.data.formats import StoredImage, read_stored, suffix_of
from gradsurge.data.formats.dicom import read_dicom
from gradsurge.data.formats.dicom_series import is_dicom, read_series
from gradsurge.data.formats.picture import PICTURES, read_picture
from gradsurge.data.volume import Volume


@dataclass(frozen=True)
class Scan:
    """What lies under the overlays.

    Attributes:
        values: (*S), or (3, *S) with colours.
        colours: whether it has some.
        spacing: mm along each axis of S; None if nobody told.
        affine: voxels to mm, 4x4; None for pictures.
        source: its file or folder.
        title: what it is, for a reader.
    """

    values: NDArray[Any]
    colours: bool
    spacing: tuple[float, ...] | None
    affine: NDArray[np.float64] | None
    source: Path
    title: str

    @property
    def grid(self) -> Volume:
        """An array (*S) in its place, to compare other files with."""
        array = self.values[0] if self.colours else self.values
        return Volume(array, self.spacing, self.affine, self.source)


def read_scan(place: Path, channel: int | None = None, title: str | None = None) -> Scan:
    """Return the scan of a file, or of a folder of DICOM slices.

    Args:
        place: NIfTI, picture, array or DICOM.
        channel: of a file with several; None for the first one, or the colours of a picture.
        title: what it is; the name of the file if left out.

    Raises:
        CaseError: it cannot be read, or has no such channel.
    """
    title = place.name if title is None else title
    if place.suffix.lower() in PICTURES and not _is_stack(place):
        return _picture(place, channel, title)
    if place.is_dir():
        stored = read_series(place)
    elif suffix_of(place) is None and place.is_file() and is_dicom(place):
        stored = read_dicom(place)
    else:
        stored = read_stored(place)
    array = _chosen(stored, place, channel)
    if stored.scaled:
        array = array.astype(np.float32) * np.float32(stored.slope) + np.float32(stored.intercept)
    spacing = None if stored.spacing is None else stored.spacing[: array.ndim]
    return Scan(array, False, spacing, stored.affine, place, title)


def _picture(file: Path, channel: int | None, title: str) -> Scan:
    pixels = read_picture(file)
    if channel is None and len(pixels) == 3:
        return Scan(pixels, True, None, None, file, title)
    return Scan(pixels[_checked(channel or 0, len(pixels), file)], False, None, None, file, title)


def _is_stack(file: Path) -> bool:
    """Tell whether a TIFF holds a volume: pictures have one page, or the three of colours."""
    if file.suffix.lower() not in (".tif", ".tiff"):
        return False
    array = read_stored(file).array
    return array.ndim == 3 and 3 not in (array.shape[0], array.shape[-1])


def _chosen(stored: StoredImage, place: Path, channel: int | None) -> NDArray[Any]:
    """Return (*S) of a file that may have channels: the last axis of NIfTI, else the first."""
    array = stored.array
    while array.ndim > 3 and array.shape[-1] == 1:
        array = array[..., 0]
    if array.ndim == 4:
        last = stored.axes == "nifti"
        count = array.shape[-1 if last else 0]
        number = _checked(channel or 0, count, place)
        array = array[..., number] if last else array[number]
    if array.ndim not in (2, 3):
        raise CaseError(
            f"{shown(place)}: shape {stored.array.shape} is no image of two or three axes; give "
            f"one scan, with its channels as the last axis of NIfTI"
        )
    return array


def _checked(channel: int, count: int, place: Path) -> int:
    if not 0 <= channel < count:
        raise CaseError(f"--channel: {shown(place)} has channels 0 to {count - 1}, got {channel}")
    return channel


def stored_scan(
    values: NDArray[np.float32], spacing: Sequence[float], source: Path, title: str
) -> Scan:
    """Return the image (*S) of a case that has no file of its own, a phantom."""
    affine = np.diag([*spacing, *[1.0] * (4 - len(spacing))])
    return Scan(values, False, tuple(spacing), affine, source, title)
