"""DICOM: one grey image a file."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.case_error import CaseError, shown
from gradsurge.data.formats.faults import reading
from gradsurge.data.formats.stored import StoredImage, check_size


def read_dicom(path: Path) -> StoredImage:
    """Return the pixels (rows, columns), the brighter the larger, and their spacing in mm.

    MONOCHROME1 (small is bright) is turned round within its range of bits.

    Raises:
        CaseError: it cannot be read, is a stack, or has colours.
    """
    from pydicom import dcmread
    from pydicom.errors import BytesLengthException, InvalidDicomError

    with (
        reading(path, "DICOM", also=(InvalidDicomError, BytesLengthException)),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # pydicom's, of values that break the standard's format
        image = dcmread(path)
        check_one_grey_image(image, path)
        array: NDArray[Any] = image.pixel_array
        return StoredImage(right_way_up(array, image), "picture", spacing=_spacing(image))


def check_one_grey_image(image: Any, path: Path) -> None:
    """Raise CaseError unless pydicom's image is one grey picture that its file can hold."""
    frames, samples = int(image.get("NumberOfFrames", 1) or 1), int(image.SamplesPerPixel)
    if (frames, samples) != (1, 1):
        raise CaseError(
            f"{shown(path)}: holds {frames} frames of {samples} samples a pixel; expected one "
            f"grey image a file: convert it (dcm2niix does so for volumes)"
        )
    packed = image.file_meta.TransferSyntaxUID.is_compressed
    shape, itemsize = (int(image.Rows), int(image.Columns)), int(image.BitsAllocated) // 8
    check_size(path, shape, itemsize, stored=path.stat().st_size, deflated=packed)


def right_way_up(array: NDArray[Any], image: Any) -> NDArray[Any]:
    """Return the pixels of pydicom's image so that the brighter are the larger."""
    if image.PhotometricInterpretation != "MONOCHROME1":
        return array
    signed = int(image.PixelRepresentation) == 1
    # Values and their negatives: -1 - x for signed numbers, 2^bits - 1 - x for others.
    return (-1 if signed else 2 ** int(image.BitsStored) - 1) - array.astype(np.int64)


def _spacing(image: Any) -> tuple[float, ...] | None:
    """Return mm between rows and between columns, at the patient or else at the detector."""
    stored = image.get("PixelSpacing") or image.get("ImagerPixelSpacing")
    if stored is None or len(stored) != 2:
        return None
    spacing = tuple(float(s) for s in stored)
    return spacing if np.isfinite(spacing).all() and min(spacing) > 0 else None
