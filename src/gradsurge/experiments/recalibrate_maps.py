"""A recalibration applied to folders of prediction files, file by file."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsurge.calibration.recalibration import Recalibration
from gradsurge.data import CaseError, find_files
from gradsurge.data.maps import StoredMap, read_map, write_map


@dataclass(frozen=True)
class MapTask:
    """The file of a case, or its files, one a channel."""

    case: str
    files: tuple[Path, ...]


def find_maps(folder: Path) -> list[MapTask]:
    """Return the cases of a folder of predictions.

    Raises:
        ValueError: the folder is missing or holds nothing that can be read.
    """
    return [MapTask(case, files) for case, files in find_files(folder, cases=()).items()]


def recalibrate_case(
    task: MapTask,
    recalibration: Recalibration,
    out: Path,
    logits: bool = False,
    channels_first: bool = False,
) -> tuple[str, str | None]:
    """Write the recalibrated probabilities of a case beside the name of its file.

    Returns:
        The case, and what went wrong with it, if anything.
    """
    try:
        stored = _read(task, channels_first)
        apply = recalibration.apply_logits if logits else recalibration.apply_probabilities
        found = apply(stored.values, stored.channel_axis)
        parts = [found] if len(task.files) == 1 else list(found)
        for file, values in zip(task.files, parts, strict=True):
            write_map(values, file, out / file.name)
    except (CaseError, ValueError) as error:
        return task.case, str(error)
    return task.case, None


def _read(task: MapTask, channels_first: bool) -> StoredMap:
    if len(task.files) == 1:
        return read_map(task.files[0], channels_first)
    channels: list[NDArray[Any]] = [read_map(file).values for file in task.files]
    if len({channel.shape for channel in channels}) > 1:
        shapes = ", ".join(str(channel.shape) for channel in channels)
        raise CaseError(f"its channel files differ in shape: {shapes}")
    return StoredMap(np.stack(channels), 0)


def recalibration_work(
    recalibration: Recalibration, out: Path, logits: bool, channels_first: bool
) -> "partial[tuple[str, str | None]]":
    """Return `recalibrate_case` with all but the task, for workers."""
    return partial(
        recalibrate_case,
        recalibration=recalibration,
        out=out,
        logits=logits,
        channels_first=channels_first,
    )
