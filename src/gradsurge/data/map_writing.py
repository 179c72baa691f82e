"""Values written in the format and geometry of another file, never half a file."""

import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nibabel
import numpy as np
import tifffile
from nibabel.filebasedimages import ImageFileError
from nibabel.spatialimages import HeaderDataError
from numpy.typing import NDArray
from PIL import Image

from gradsurge.data.case_error import CaseError, printable, shown
from gradsurge.data.formats import suffix_of
from gradsurge.data.formats.faults import reading
from gradsurge.data.formats.nifti import read_nifti_header

_FAULTS = (OSError, ValueError, ImageFileError, HeaderDataError)


def write_map(values: NDArray[Any], like: Path, target: Path) -> None:
    """Write values in the format and geometry of the file ``like``.

    NIfTI keeps the header and takes float32; PNG has 16 bits; TIFF and arrays take float32.

    Raises:
        CaseError: the file cannot be written.
    """
    suffix = suffix_of(like)
    if suffix is None:
        raise CaseError(f"{shown(like)}: not a format that is written")
    beside = target.with_name(f".{os.getpid()}.{target.name}")
    try:
        _WRITERS[suffix](values, like, beside)
        beside.replace(target)
    except CaseError:
        raise
    except _FAULTS as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise CaseError(f"{shown(target)}: cannot be written ({printable(reason)})") from error
    finally:
        beside.unlink(missing_ok=True)


def _write_nifti(values: NDArray[Any], like: Path, target: Path) -> None:
    with reading(like, "NIfTI"):
        source = read_nifti_header(like)
    header = source.header.copy()
    header.set_data_dtype(np.float32)
    header.set_slope_inter(1.0, 0.0)
    nibabel.save(type(source)(values.astype(np.float32), source.affine, header), target)


def _write_npz(values: NDArray[Any], like: Path, target: Path) -> None:
    with reading(like, ".npz"), zipfile.ZipFile(like) as source:
        names = [name for name in source.namelist() if name.endswith(".npy")]
    name = "probabilities.npy" if "probabilities.npy" in names else names[0]
    # Not np.savez_compressed, which cannot write every name, "file" for one.
    with (
        zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open(name, "w", force_zip64=True) as stream,
    ):
        np.lib.format.write_array(stream, values.astype(np.float32), allow_pickle=False)


def _write_npy(values: NDArray[Any], _like: Path, target: Path) -> None:
    with target.open("wb") as stream:
        np.save(stream, values.astype(np.float32), allow_pickle=False)


def _write_png(values: NDArray[Any], _like: Path, target: Path) -> None:
    pixels = np.rint(np.clip(values, 0.0, 1.0) * 65535).astype(np.uint16)
    Image.fromarray(pixels).save(target, format="png")


def _write_tiff(values: NDArray[Any], _like: Path, target: Path) -> None:
    # Said, or three columns would be taken for red, green and blue.
    tifffile.imwrite(
        target, values.astype(np.float32), compression="zlib", photometric="minisblack"
    )


_WRITERS: dict[str, Callable[[NDArray[Any], Path, Path], None]] = {
    ".nii.gz": _write_nifti,
    ".nii": _write_nifti,
    ".npz": _write_npz,
    ".npy": _write_npy,
    ".png": _write_png,
    ".tif": _write_tiff,
    ".tiff": _write_tiff,
}
