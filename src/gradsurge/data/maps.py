"""Prediction files read and written back in their own layout: for what changes values only."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import nibabel
import numpy as np
import tifffile
from numpy.typing import NDArray
from PIL import Image

from gradsurge.data.case_error import CaseError, shown
from gradsurge.data.formats import read_stored, suffix_of
from gradsurge.data.predictions import values_of


class StoredMap(NamedTuple):
    """A file's values with its axes as stored, and the axis of the channels if it has one."""

    values: NDArray[Any]
    channel_axis: int | None


def read_map(file: Path, channels_first: bool = False) -> StoredMap:
    """Return probabilities or logits as floats, without turning anything.

    NIfTI of four axes has its channels last, nnU-Net's .npz first. Other files are a map of the
    foreground unless ``channels_first``.

    Raises:
        CaseError: the file cannot be read.
    """
    stored = read_stored(file)
    values, _ = values_of(stored, stored.array)
    if stored.axes == "nifti":
        return StoredMap(values, values.ndim - 1 if values.ndim > 3 else None)
    return StoredMap(values, 0 if stored.axes == "nnunet" or channels_first else None)


def write_map(values: NDArray[Any], like: Path, target: Path) -> None:
    """Write values in the format and geometry of the file ``like``, never half a file.

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
    except OSError as error:
        raise CaseError(
            f"{shown(target)}: cannot be written ({error.strerror or error})"
        ) from error
    finally:
        beside.unlink(missing_ok=True)


def _write_nifti(values: NDArray[Any], like: Path, target: Path) -> None:
    source = nibabel.load(like)
    header = source.header.copy()
    header.set_data_dtype(np.float32)
    header.set_slope_inter(1.0, 0.0)
    nibabel.save(type(source)(values.astype(np.float32), source.affine, header), target)


def _write_npz(values: NDArray[Any], like: Path, target: Path) -> None:
    with np.load(like, allow_pickle=False) as source:
        key = "probabilities" if "probabilities" in source.files else source.files[0]
    with target.open("wb") as stream:
        np.savez_compressed(stream, allow_pickle=False, **{key: values.astype(np.float32)})


def _write_npy(values: NDArray[Any], _like: Path, target: Path) -> None:
    with target.open("wb") as stream:
        np.save(stream, values.astype(np.float32), allow_pickle=False)


def _write_png(values: NDArray[Any], _like: Path, target: Path) -> None:
    pixels = np.rint(np.clip(values, 0.0, 1.0) * 65535).astype(np.uint16)
    Image.fromarray(pixels).save(target, format="png")


def _write_tiff(values: NDArray[Any], _like: Path, target: Path) -> None:
    tifffile.imwrite(target, values.astype(np.float32), compression="zlib")


_WRITERS: dict[str, Callable[[NDArray[Any], Path, Path], None]] = {
    ".nii.gz": _write_nifti,
    ".nii": _write_nifti,
    ".npz": _write_npz,
    ".npy": _write_npy,
    ".png": _write_png,
    ".tif": _write_tiff,
    ".tiff": _write_tiff,
}
