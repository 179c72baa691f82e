"""Cases written whole: beside their place first, then renamed."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.datasets import Dataset
from gradsurge.data.prepared import PreparedCase
from gradsurge.data.store.array_file import write_array
from gradsurge.data.store.case_file import CaseFile, write_case_file
from gradsurge.data.store.checks import check_counts, check_prepared
from gradsurge.data.store.intensities import intensities
from gradsurge.data.store.locations import sample_locations, write_locations
from gradsurge.data.store.places import (
    LOCATIONS,
    array_file,
    case_folder,
    folder_beside,
    take_place,
)
from gradsurge.data.store.stamp import Stamp


def write_case(store: Path, case: PreparedCase, dataset: Dataset, stamp: Stamp) -> CaseFile:
    """Add a case to a store, or replace the one of that name.

    Args:
        store: the folder of the store.
        case: what is written.
        dataset: declares channels and classes.
        stamp: what the case was made of.

    Raises:
        CaseError: the case is not what the data set declares.
        OSError: it cannot be written, as on a full disk; then nothing is left of it.
    """
    check_prepared(case, dataset)
    voxels = _count(case.label)
    check_counts(voxels, dataset)
    place = case_folder(store, case.name)
    beside = folder_beside(place)
    try:
        facts = _write(beside, case, voxels, dataset, stamp)
        take_place(beside, place)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return facts


def _count(label: NDArray[np.uint8]) -> dict[int, int]:
    flat, step = label.ravel(), 1 << 20  # bincount makes an int64 copy
    counts = sum(
        (np.bincount(flat[i : i + step], minlength=256) for i in range(0, flat.size, step)),
        start=np.zeros(256, np.int64),
    )
    return {int(number): int(counts[number]) for number in np.flatnonzero(counts)}


def _write(
    folder: Path, case: PreparedCase, voxels: dict[int, int], dataset: Dataset, stamp: Stamp
) -> CaseFile:
    foreground = voxels.keys() - {0, dataset.ignore_label}
    known = sum(count for number, count in voxels.items() if number != dataset.ignore_label)
    arrays: dict[str, NDArray[Any]] = {"image": case.image, "label": case.label, **case.extras}
    facts = CaseFile(
        name=case.name,
        shape=case.label.shape,
        spacing=tuple(float(s) for s in case.spacing),
        grid=case.grid,
        foreground=sum(voxels[number] for number in foreground) / max(known, 1),
        voxels=voxels,
        intensities={
            name: intensities(channel)
            for name, channel in zip(dataset.channel_names, case.image, strict=True)
        },
        arrays={
            name: write_array(array_file(folder, name), array, case.label.ndim)
            for name, array in arrays.items()
        },
        location_bytes=write_locations(
            folder / LOCATIONS, sample_locations(case.label, foreground, case.name)
        ),
        stamp=stamp,
    )
    write_case_file(folder, facts)
    return facts
