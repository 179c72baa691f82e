"""TIFF: pictures and stacks, integers or floats; several pages are a leading axis."""

import logging
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tifffile
from numpy.typing import NDArray
from PIL.TiffImagePlugin import TiffImageFile

from gradsurge.data.case_error import CaseError, shown
from gradsurge.data.formats.grey import grey
from gradsurge.data.formats.quiet import complaints
from gradsurge.data.formats.stored import StoredImage, check_size
from gradsurge.data.formats.tiff_pages import check_pages

_MIN_IS_WHITE, _PALETTE, _UNCOMPRESSED = 0, 3, 1
# These dialects name further files, or hold XML, and would have them read; a map is one file.
_ONE_FILE = {"is_ome": False, "is_mmstack": False, "is_ndtiff": False}

Samples = Callable[[NDArray[Any], Path], NDArray[Any]]


def read_tiff(path: Path, samples: Samples = grey) -> StoredImage:
    """Return the pixels (pages, rows, columns) or (rows, columns); a channel axis comes first.

    A file that tifffile complains about is refused: it fills what is missing with zeros.

    Args:
        path: the file.
        samples: what becomes of colours (..., samples).
    """
    check_pages(path)
    with complaints(logging.getLogger("tifffile")) as said:
        with tifffile.TiffFile(path, **_ONE_FILE) as tiff:
            if len(tiff.series) != 1:
                raise CaseError(
                    f"{shown(path)}: holds {len(tiff.series)} images of different shape or type, "
                    f"expected one image or one stack"
                )
            stored = _read_series(tiff.series[0], tiff.pages[0], path, samples)
        if said:
            raise ValueError(said[0])
    return stored


def _read_series(series: Any, page: Any, path: Path, samples: Samples) -> StoredImage:
    bits, size = int(page.bitspersample), path.stat().st_size
    packed = page.compression != _UNCOMPRESSED
    itemsize = np.dtype(series.dtype).itemsize
    check_size(path, series.shape, itemsize, stored=size * 8, deflated=packed)
    inverted = page.photometric == _MIN_IS_WHITE
    try:
        array = series.asarray(maxworkers=1)
    except ValueError as error:
        whole_bytes = bits == 1 or bits % 8 == 0  # Pillow stretches 2 and 4 bits
        if "imagecodecs" not in str(error) or page.samplesperpixel > 1 or not whole_bytes:
            raise
        array, inverted = _pages_by_pillow(path).reshape(series.shape), False
    array = _ordered(array, series.axes, path, samples)
    if array.dtype.kind not in "bu":
        return StoredImage(array, "picture")
    if inverted:
        array = ~array if array.dtype.kind == "b" else (2**bits - 1) - array
    drawn = bits in (2, 4, 8, 16) and page.photometric != _PALETTE
    return StoredImage(array, "picture", full_scale=2**bits - 1 if drawn else None)


def _ordered(array: NDArray[Any], axes: str, path: Path, samples: Samples) -> NDArray[Any]:
    """Return the array with its samples reduced and a channel axis (ImageJ keeps z, c) in front."""
    if axes.endswith("S"):
        return samples(array, path)
    return np.moveaxis(array, axes.index("C"), 0) if "C" in axes else array


def _pages_by_pillow(path: Path) -> NDArray[Any]:
    """Read compressions (LZW, fax) that tifffile leaves to a package we do not require."""
    pages = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # Pillow only warns of damaged tags
        with TiffImageFile(path) as image:
            for index in range(image.n_frames):
                image.seek(index)
                pages.append(np.array(image))
    return np.stack(pages)
