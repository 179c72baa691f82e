"""Probability maps or logits of one case, whatever the file."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.axes import channels_first
from gradsurge.data.case_error import CaseError, shown
from gradsurge.data.case_files import check_files
from gradsurge.data.formats import StoredImage, read_stored
from gradsurge.data.geometry import same_grid
from gradsurge.data.hard_masks import (
    refuse_integers,
    refuse_small_classes,
    refuse_zeros_and_ones,
)
from gradsurge.data.layout import empty_channels
from gradsurge.data.mask_beside import affine_beside
from gradsurge.data.volume import Volume


def read_prediction(files: Sequence[Path], like: Volume) -> Volume:
    """Return the values of a prediction as (C, *S), raw: probabilities or logits alike.

    Args:
        files: one file, or one a channel (``<case>_0000``, ``<case>_0001``, ...).
        like: the label of the case; its shape and format tell which axis is which.

    Integers are scaled as their file says: NIfTI by scl_slope, 8- and 16-bit pictures by 1/255
    and 1/65535. Other integers, and floats that are all 0 or 1, are hard masks and refused.

    Raises:
        CaseError: a file cannot be read, does not fit the label or holds a hard mask.
    """
    files = [Path(file) for file in files]
    if not files:
        raise ValueError("files: expected at least one path, got none")
    check_files(files)
    prediction = _read_whole(files[0], like) if len(files) == 1 else _read_channels(files, like)
    refuse_zeros_and_ones(prediction.array, prediction.source)
    return prediction


def _read_whole(path: Path, like: Volume) -> Volume:
    stored = read_stored(path)
    refuse_integers(stored, path)
    fitted = channels_first(stored, path, like)
    if stored.axes == "nnunet":
        stored = replace(stored, affine=affine_beside(path))
    refuse_small_classes(stored, path, like)
    return _volume(stored, fitted, path)


def _read_channels(files: Sequence[Path], like: Volume) -> Volume:
    """Fill one array channel by channel, so that only one channel is held twice."""
    first = _read_channel(files[0], like)
    array = empty_channels(len(files), first.array[0])
    array[0] = first.array[0]
    for index, path in enumerate(files[1:], start=1):
        channel = _read_channel(path, like)
        if not same_grid(first.affine, channel.affine, like.array.shape):
            raise CaseError(f"{shown(path)}: its affine differs from {shown(files[0])}'s")
        array[index] = channel.array[0]
    return replace(first, array=array)


def _read_channel(path: Path, like: Volume) -> Volume:
    stored = read_stored(path)
    refuse_integers(stored, path)
    fitted = channels_first(stored, path, like)
    if len(fitted) != 1:
        raise CaseError(
            f"{shown(path)}: holds {len(fitted)} channels; with one file a channel "
            f"expected shape {like.array.shape}"
        )
    return _volume(stored, fitted, path)


def values_of(stored: StoredImage, array: NDArray[Any]) -> tuple[NDArray[Any], float]:
    """Return the stored numbers as floats, and the step between two of them if integers."""
    floats = array.dtype.kind == "f"
    kind = np.float64 if floats and array.dtype.itemsize >= 8 else np.float32
    slope = 1.0 / stored.full_scale if stored.full_scale is not None else stored.slope
    with np.errstate(all="ignore"):  # what overflows here is reported by the checks
        values: NDArray[Any] = array.astype(kind, copy=False)
        if slope != 1.0:
            values *= slope
        if stored.intercept != 0.0:
            values += stored.intercept
    return values, 0.0 if floats else abs(slope)


def _volume(stored: StoredImage, array: NDArray[Any], path: Path) -> Volume:
    values, step = values_of(stored, array)
    spacing = None if stored.spacing is None else stored.spacing[: values.ndim - 1]
    return Volume(values, spacing, stored.affine, path, step)
