"""Prediction files read and written back in their own layout: for what changes values only."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.case_error import CaseError, shown
from gradsurge.data.formats import StoredImage, read_stored
from gradsurge.data.hard_masks import refuse_integers, refuse_zeros_and_ones
from gradsurge.data.layout import empty_channels
from gradsurge.data.predictions import values_of
from gradsurge.data.volume import Volume


@dataclass(frozen=True)
class StoredMap:
    """The values of a file as (C, *S), and the axis that the channels have in the file, if any."""

    volume: Volume
    channel_axis: int | None

    def as_stored(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return other values (C, *S) with the axes of the file."""
        return array[0] if self.channel_axis is None else np.moveaxis(array, 0, self.channel_axis)


def read_map(file: Path, counts: Collection[int], has_channels: bool | None = None) -> StoredMap:
    """Return probabilities or logits as floats; no axis is guessed.

    NIfTI of four axes has its channels last, nnU-Net's .npz first. Other files are maps of the
    foreground, unless they have four axes, or three of which the first or last is as long as
    channels would be: then the caller must say what it is.

    Args:
        file: of one case, or of one channel.
        counts: how many channels there may be; with 1 among them a file may be without their axis.
        has_channels: whether the files have an axis of channels: the last of NIfTI, else the first.
            None if nobody said so.

    Raises:
        CaseError: the file cannot be read, holds a hard mask, or has other or unclear channels.
    """
    found = _read(file, counts, has_channels)
    refuse_zeros_and_ones(found.volume.array, file)
    return found


def read_channel_maps(files: Collection[Path]) -> Volume:
    """Return one file a channel as (C, *S).

    Raises:
        CaseError: as `read_map`, or the files differ in shape.
    """
    volumes = [_read(file, (1,), has_channels=False).volume for file in files]
    first = volumes[0]
    array = empty_channels(len(volumes), first.array[0])
    for index, volume in enumerate(volumes):
        if volume.array.shape != first.array.shape:
            raise CaseError(
                f"{shown(volume.source)}: shape {volume.array.shape[1:]} differs from "
                f"{first.array.shape[1:]} of {shown(first.source)}"
            )
        array[index] = volume.array[0]
    refuse_zeros_and_ones(array, first.source)
    return replace(first, array=array, step=max(volume.step for volume in volumes))


def _read(file: Path, counts: Collection[int], has_channels: bool | None) -> StoredMap:
    stored = read_stored(file)
    refuse_integers(stored, file)
    axis = _channel_axis(stored, file, counts, has_channels)
    values, step = values_of(stored, stored.array)
    array = values[None] if axis is None else np.moveaxis(values, axis, 0)
    if len(array) not in counts:
        raise CaseError(
            f"{shown(file)}: expected {_listed(counts)} channels, got {len(array)} in a file of "
            f"shape {values.shape}"
        )
    return StoredMap(Volume(array, None, stored.affine, file, step), axis)


def _channel_axis(
    stored: StoredImage, file: Path, counts: Collection[int], has_channels: bool | None
) -> int | None:
    shape = stored.array.shape
    if stored.axes == "nnunet":
        return 0
    place = len(shape) - 1 if stored.axes == "nifti" else 0
    if has_channels is not None:
        return place if has_channels else None
    if stored.axes == "nifti" and len(shape) > 3:
        return place
    ends = {shape[0], shape[-1]} & {n for n in counts if n > 1}
    if len(shape) > 3 or (len(shape) == 3 and ends):
        raise CaseError(
            f"{shown(file)}: shape {shape} may hold channels; say --channels-first if its "
            f"{'last' if place else 'first'} axis is theirs, --no-channels if it has none"
        )
    return None


def _listed(counts: Collection[int]) -> str:
    return " or ".join(str(n) for n in sorted(counts))
