"""Maps and masks as files, channel by channel: only one of them need be in memory."""

import gzip
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import tifffile
from numpy.typing import NDArray
from PIL import Image

from gradsurge.experiments.prediction.frame import Frame

FULL_SCALE = 65535
_SLICES = 16
_FAST = 1  # gzip: floats hardly shrink further, and it is three times as fast as 6


def write_map(
    file: Path, channels: Iterable[NDArray[np.float32]], count: int, frame: Frame, bits: int
) -> None:
    """Write probabilities.

    NIfTI: (*S) of one channel, (*S, C) of several; TIFF: (*S) or (C, *S). 16 bits hold
    k = round(65535 p), with scl_slope 1 / 65535 in NIfTI.

    Args:
        file: to write.
        channels: (*S) each, in order.
        count: how many.
        frame: geometry and format.
        bits: 32 or 16.
    """
    dtype = np.dtype("<f4" if bits == 32 else "<u2")
    stored = iter(channels) if bits == 32 else map(_Scaled, channels)
    if frame.header is not None:
        slope = 1.0 if bits == 32 else 1.0 / FULL_SCALE
        _write_nifti(file, stored, count, frame.header, dtype, slope)
    else:
        _write_tiff(file, stored, count, dtype)


def write_mask(file: Path, mask: NDArray[np.uint8], frame: Frame) -> None:
    """Write class numbers (*S): NIfTI, PNG of flat pictures, TIFF of stacks."""
    if frame.header is not None:
        _write_nifti(file, iter([mask]), 1, frame.header, np.dtype("u1"), 1.0)
    elif mask.ndim == 2:
        Image.fromarray(np.ascontiguousarray(mask)).save(file, format="png")
    else:
        _write_tiff(file, iter([mask]), 1, np.dtype("u1"))


class _Scaled:
    """Probabilities that become integers where they are looked at."""

    def __init__(self, values: NDArray[np.float32]) -> None:
        self._values = values
        self.shape, self.ndim = values.shape, values.ndim

    def __getitem__(self, key: Any) -> NDArray[np.uint16]:
        scaled: NDArray[np.uint16] = np.rint(self._values[key] * FULL_SCALE).astype(np.uint16)
        return scaled


def _write_nifti(
    file: Path, channels: Iterator[Any], count: int, header: Any, dtype: Any, slope: float
) -> None:
    first = next(channels)
    header = header.copy()
    steps = header["pixdim"].copy()
    header.set_data_shape(first.shape if count == 1 else (*first.shape, count))
    # The first four belong to the source's quaternion, of flat images too.
    header["pixdim"] = steps
    header["pixdim"][4:] = 1.0
    header.set_data_dtype(dtype)
    header.set_slope_inter(slope, 0.0)
    with file.open("wb") as raw, gzip.GzipFile("", "wb", _FAST, raw, mtime=0) as stream:
        header.write_to(stream)
        parts = chain([first], channels)
        del first  # a large volume, and here only its shape was needed
        for part in parts:
            for piece in _slices(part, dtype):
                stream.write(piece)
            del part  # or it would stay while the next is made


def _slices(channel: Any, dtype: Any) -> Iterator[bytes]:
    """Yield the values with the first axis fastest, some slices along the last axis at a time."""
    for start in range(0, channel.shape[-1], _SLICES):
        piece = channel[..., start : start + _SLICES]
        yield np.asarray(piece, dtype).tobytes(order="F")


def _write_tiff(file: Path, channels: Iterator[Any], count: int, dtype: Any) -> None:
    first = next(channels)
    shape = first.shape if count == 1 else (count, *first.shape)

    def pages() -> Iterator[NDArray[Any]]:
        for part in chain([first], channels):
            for page in range(part.shape[0]) if part.ndim == 3 else [...]:
                yield np.ascontiguousarray(part[page], dtype)

    # Said, or three channels would be taken for red, green and blue.
    tifffile.imwrite(
        file, pages(), shape=shape, dtype=dtype, compression="zlib", photometric="minisblack"
    )
