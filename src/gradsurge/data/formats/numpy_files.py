"""Arrays of NumPy: .npy, and .npz with nnU-Net's probabilities or one array. Never a pickle."""

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.case_error import CaseError, printable, shown
from gradsurge.data.formats.stored import AxisOrder, StoredImage, check_size

# The key nnU-Net's --save_probabilities writes: (C, z, y, x), two-dimensional data (C, 1, y, x).
_NNUNET_KEY = "probabilities"


def read_npy(path: Path) -> StoredImage:
    """Return the array of a .npy file."""
    with path.open("rb") as stream:
        array = np.lib.format.read_array(stream, allow_pickle=False)
    return _numbers(array, "array", path)


def read_npz(path: Path) -> StoredImage:
    """Return the array `probabilities` of a .npz file (nnU-Net's axes), or else its only array."""
    with zipfile.ZipFile(path) as archive:
        names = [n.removesuffix(".npy") for n in archive.namelist() if n.endswith(".npy")]
        key = _NNUNET_KEY if _NNUNET_KEY in names else names[0] if len(names) == 1 else None
        if key is None:
            listed = printable(", ".join(names[:8])) or "no array"
            raise CaseError(
                f"{shown(path)}: holds {listed}; expected one array, or one named {_NNUNET_KEY!r}"
            )
        member = archive.getinfo(f"{key}.npy")
        check_size(path, (member.file_size,), 1, stored=path.stat().st_size, deflated=True)
        with archive.open(member) as stream:
            array = np.lib.format.read_array(stream, allow_pickle=False)
    return _numbers(array, "nnunet" if key == _NNUNET_KEY else "array", path)


def _numbers(array: NDArray[Any], axes: AxisOrder, path: Path) -> StoredImage:
    if array.dtype.kind not in "biuf" or array.size == 0:
        raise CaseError(
            f"{shown(path)}: expected an array of numbers, got {array.dtype} {array.shape}"
        )
    return StoredImage(array, axes)
