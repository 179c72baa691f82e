"""DICOM series: a folder with one file a slice, together a volume."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.case_error import CaseError, shown
from gradsurge.data.case_files import natural
from gradsurge.data.formats.dicom import check_one_grey_image
from gradsurge.data.formats.faults import reading
from gradsurge.data.formats.stored import StoredImage

_SUFFIXES = (".dcm", ".dicom", ".ima")
_MAGIC, _MAGIC_AT = b"DICM", 128
_LPS_TO_RAS = np.diag([-1.0, -1.0, 1.0, 1.0])
_SAME_DIRECTION = 1e-3
_LEAST_AREA = 0.5  # between two directions of length 1 that should be at right angles
_UNEVEN = 0.05  # of the distance between slices; headers round to some decimals
_CONVERT = "convert it to NIfTI (dcm2niix does)"


def slices_in(folder: Path) -> list[Path]:
    """Return the DICOM files of a folder, by suffix or, where there is none, by content.

    Raises:
        OSError: the folder cannot be read.
    """
    files = [f for f in folder.iterdir() if not f.name.startswith(".") and f.is_file()]
    return sorted((f for f in files if is_dicom(f)), key=lambda f: natural(f.name))


def read_series(folder: Path) -> StoredImage:
    """Return the volume (x, y, z) of a folder of slices, float32, in Hounsfield units if it is CT.

    Slices are ordered by their position, the affine (to RAS+ mm) comes from position, orientation
    and pixel spacing.

    Raises:
        CaseError: a slice cannot be read, is missing or twice there, or they are of several series.
    """
    from pydicom import dcmread
    from pydicom.errors import BytesLengthException, InvalidDicomError

    slices = []
    for file in slices_in(folder):
        with (
            reading(file, "DICOM", also=(InvalidDicomError, BytesLengthException)),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")  # pydicom's, of values that break the standard's format
            image = dcmread(file)
            check_one_grey_image(image, file)
            slices.append(_Slice(image, file))
    if not slices:
        raise CaseError(f"{shown(folder)}: holds no DICOM slice; expected .dcm files")
    _check_one_series(slices, folder)
    slices.sort(key=lambda s: s.height)
    affine = _affine(slices, folder)
    return StoredImage(
        np.stack([s.values.T for s in slices], axis=-1),
        "nifti",
        spacing=tuple(float(n) for n in np.linalg.norm(affine[:3, :3], axis=0)),
        affine=affine,
    )


class _Slice:
    """What is needed of a slice: values (rows, columns), and where it lies, in LPS mm."""

    def __init__(self, image: Any, file: Path) -> None:
        # MONOCHROME1 says how to show the numbers; a volume is measured, and they stay as they are.
        pixels: NDArray[Any] = image.pixel_array
        slope = _rescaling(image.get("RescaleSlope"), 1.0)
        intercept = _rescaling(image.get("RescaleIntercept"), 0.0)
        self.values: NDArray[np.float32] = pixels.astype(np.float32) * slope + intercept
        self.file, self.series = file, str(image.get("SeriesInstanceUID", ""))
        self.thickness = float(image.get("SliceThickness") or 1.0)
        self.position = _numbers(image, "ImagePositionPatient", 3, file)
        # Along a row, the columns count; down a column, the rows.
        directions = _numbers(image, "ImageOrientationPatient", 6, file).reshape(2, 3)
        rows_apart, columns_apart = spacing = _numbers(image, "PixelSpacing", 2, file)
        self.steps = directions * [[columns_apart], [rows_apart]]
        self.normal = np.cross(*directions)
        if np.linalg.norm(self.normal) < _LEAST_AREA or spacing.min() <= 0:
            raise CaseError(
                f"{shown(file)}: its ImageOrientationPatient {directions.ravel().tolist()} and "
                f"PixelSpacing {spacing.tolist()} span no plane; {_CONVERT}, or mend the header"
            )

    @property
    def height(self) -> float:
        return float(self.position @ self.normal)


def is_dicom(file: Path) -> bool:
    """Tell whether a file is DICOM, by its suffix or, where there is none, by its content."""
    if file.suffix.lower() in _SUFFIXES:
        return True
    if file.suffix and not file.suffix[1:].isdigit():  # names are often numbers with dots
        return False
    if file.name.upper() == "DICOMDIR":
        return False
    with file.open("rb") as stream:
        return stream.read(_MAGIC_AT + len(_MAGIC))[_MAGIC_AT:] == _MAGIC


def _numbers(image: Any, tag: str, count: int, file: Path) -> NDArray[np.float64]:
    value = image.get(tag)
    if not value:
        raise CaseError(
            f"{shown(file)}: has no {tag}, so where its slice lies is unknown; {_CONVERT}"
        )
    numbers = np.array([float(v) for v in value])
    if numbers.shape != (count,) or not np.isfinite(numbers).all():
        raise CaseError(
            f"{shown(file)}: expected {count} numbers as its {tag}, got {list(value)}; {_CONVERT}"
        )
    return numbers


def _rescaling(value: Any, default: float) -> np.float32:
    """Return the number of a tag, which may be there and empty."""
    return np.float32(default if value is None or value == "" else value)


def _check_one_series(slices: list[_Slice], folder: Path) -> None:
    first = slices[0]
    series = {s.series for s in slices}
    if len(series) > 1:
        raise CaseError(
            f"{shown(folder)}: holds {len(series)} series; put each into a folder of its own"
        )
    for other in slices[1:]:
        turned = np.abs(other.steps - first.steps).max() > _SAME_DIRECTION
        if other.values.shape != first.values.shape or turned:
            raise CaseError(
                f"{shown(other.file)}: has another size, spacing or direction than "
                f"{shown(Path(first.file.name))}; put scouts and other views elsewhere"
            )


def _affine(slices: list[_Slice], folder: Path) -> NDArray[np.float64]:
    first, last = slices[0], slices[-1]
    if len(slices) == 1:
        step = first.normal * first.thickness
    else:
        step = (last.position - first.position) / (len(slices) - 1)
        gaps = np.diff([s.height for s in slices])
        usual = float(np.median(gaps))
        if gaps.min() <= _UNEVEN * max(usual, 1e-3):
            raise CaseError(
                f"{shown(folder)}: two slices lie in the same place, as of several time points; "
                f"put each into a folder of its own"
            )
        if np.abs(gaps - usual).max() > _UNEVEN * usual:
            raise CaseError(
                f"{shown(folder)}: slices lie {gaps.min():.3g} to {gaps.max():.3g} mm apart; "
                f"add those that are missing, or {_CONVERT}"
            )
    affine = np.eye(4)
    affine[:3, 0], affine[:3, 1] = first.steps
    affine[:3, 2], affine[:3, 3] = step, first.position
    return _LPS_TO_RAS @ affine
