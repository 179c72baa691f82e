"""Where the foreground lies: a sample of each class, for patches that must hold some."""

import zipfile
import zlib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.case_error import CaseError, shown

MOST = 5000  # voxels kept of a class
_UNREADABLE = (ValueError, KeyError, EOFError, OSError, zipfile.BadZipFile, zlib.error)

Locations = Mapping[int, NDArray[Any]]


def sample_locations(
    label: NDArray[np.uint8], classes: Collection[int], name: str
) -> dict[int, NDArray[Any]]:
    """Return class number -> voxel indices (n, axes), all of them or `MOST` drawn ones.

    Classes without a voxel are left out. The draw depends on the name of the case alone.
    """
    flat = label.ravel()
    foreground = np.flatnonzero(flat)
    values = flat[foreground]
    kind = np.uint16 if max(label.shape) <= np.iinfo(np.uint16).max else np.uint32
    found = {}
    for number in sorted(classes):
        voxels = foreground[values == number]
        if voxels.size > MOST:
            seed = (zlib.crc32(name.encode("utf-8", "surrogatepass")), number)
            voxels = np.sort(np.random.default_rng(seed).choice(voxels, MOST, replace=False))
        if voxels.size:
            found[number] = np.stack(np.unravel_index(voxels, label.shape), axis=1).astype(kind)
    return found


def write_locations(file: Path, locations: Locations) -> int:
    """Write one array a class, and return the size of the file."""
    arrays: dict[str, Any] = {str(number): voxels for number, voxels in locations.items()}
    np.savez_compressed(file, **arrays)
    return file.stat().st_size


def read_locations(file: Path, dimensions: int) -> dict[int, NDArray[Any]]:
    """Return what `write_locations` was given.

    Raises:
        CaseError: the file is missing or damaged.
    """
    try:
        with zipfile.ZipFile(file):  # refuses what is no archive before NumPy takes it for a pickle
            pass
        with np.load(file, allow_pickle=False) as stored:
            found = {int(number): stored[number] for number in stored.files}
    except _UNREADABLE as error:
        reason = " ".join(str(error).split())
        raise CaseError(
            f"{shown(file)}: damaged ({reason}); delete its folder and run gradsurge prepare again"
        ) from error
    if any(v.ndim != 2 or v.shape[1] != dimensions for v in found.values()):
        raise CaseError(f"{shown(file)}: expected voxel indices along {dimensions} axes")
    return found
