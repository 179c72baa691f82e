"""Flat pictures with their colours: PNG, JPEG and TIFF, grey or red, green and blue."""

import logging
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import tifffile
from numpy.typing import NDArray
from PIL import ImageFile
from PIL.JpegImagePlugin import JpegImageFile
from PIL.PngImagePlugin import PngImageFile

from gradsurge.data.case_error import CaseError, shown
from gradsurge.data.formats.faults import reading
from gradsurge.data.formats.quiet import complaints
from gradsurge.data.formats.stored import check_size
from gradsurge.data.formats.tiff import read_tiff

# Not Image.open: its guard against bombs is one number for the whole process; check_size is ours.
_OPENERS: dict[str, type[ImageFile.ImageFile]] = {
    ".png": PngImageFile,
    ".jpg": JpegImageFile,
    ".jpeg": JpegImageFile,
}
PICTURES = (*_OPENERS, ".tif", ".tiff")
_GREY_MODES = ("1", "L", "LA", "La")


def read_picture(path: Path) -> NDArray[Any]:
    """Return (1, rows, columns) or, with colours, (3, rows, columns), values as stored.

    Palettes and CMYK become colours, transparency is dropped, a turn noted in EXIF is not made:
    masks are drawn on the pixels as stored.

    Raises:
        CaseError: it cannot be read, is not flat, or holds NaN or infinite values.
    """
    suffix = path.suffix.lower()
    if suffix not in PICTURES:
        raise CaseError(f"{shown(path)}: expected a picture of type {', '.join(PICTURES)}")
    with reading(path, suffix):
        array = _by_pillow(path, suffix) if suffix in _OPENERS else _by_tifffile(path)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise CaseError(f"{shown(path)}: holds NaN or infinite pixels; replace them first")
    return array


def has_colours(path: Path) -> bool:
    """Return whether a picture has colours, from its header alone.

    Raises:
        CaseError: the header cannot be read.
    """
    suffix = path.suffix.lower()
    with reading(path, suffix), path.open("rb") as file:
        if suffix not in _OPENERS:
            with complaints(logging.getLogger("tifffile")), tifffile.TiffFile(file) as tiff:
                return int(tiff.pages[0].samplesperpixel) > 2
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with _OPENERS[suffix](file) as image:
                return image.mode not in _GREY_MODES and not image.mode.startswith(("I", "F"))


def _by_pillow(path: Path, suffix: str) -> NDArray[Any]:
    with path.open("rb") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of palettes and profiles that play no part here
        with _OPENERS[suffix](file) as image:
            size = path.stat().st_size
            check_size(path, image.size[::-1], 3, stored=size * 8, deflated=True)
            if image.mode.startswith(("I", "F")):
                return np.array(image)[None]
            grey = image.mode in _GREY_MODES
            pixels = np.array(image.convert("L" if grey else "RGB"))
    return pixels[None] if grey else np.ascontiguousarray(np.moveaxis(pixels, -1, 0))


def _by_tifffile(path: Path) -> NDArray[Any]:
    array = read_tiff(path, samples=_without_alpha).array
    if array.ndim == 2:
        return array[None]
    if array.ndim == 3 and len(array) in (1, 3):
        return array
    raise CaseError(
        f"{shown(path)}: has shape {array.shape}, a stack; expected one flat picture: save its "
        f"pages as files of their own, or use an nnU-Net folder for volumes"
    )


def _without_alpha(array: NDArray[Any], path: Path) -> NDArray[Any]:
    """Return (C, rows, columns) of (rows, columns, samples), one or three of the samples."""
    if array.ndim != 3 or array.shape[-1] > 4:
        raise CaseError(f"{shown(path)}: has shape {array.shape}; expected one flat picture")
    colours = array[..., : 1 if array.shape[-1] < 3 else 3]
    return np.ascontiguousarray(np.moveaxis(colours, -1, 0))
