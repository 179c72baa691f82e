"""Label maps and region masks of one case, whatever the file."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.case_error import CaseError, shown
from gradsurge.data.formats import StoredImage, read_stored
from gradsurge.data.volume import Volume

_MOST_LISTED = 6
_LARGEST = 2**32 - 1


def read_label(file: Path) -> Volume:
    """Return the class numbers of a label map as the smallest unsigned integers that hold them.

    Two or three spatial axes; trailing axes of length 1 beyond the third are dropped. In 8- and
    16-bit pictures that hold only 0 and the largest value (255, 65535) the latter means 1.

    Raises:
        CaseError: unreadable, not 2D or 3D, not whole numbers, or negative ones.
    """
    stored, numbers = _read(Path(file))
    return _volume(_class_numbers(stored, numbers), stored, file)


def read_mask(file: Path) -> Volume:
    """Return a region mask as bool: True where the file holds anything but 0."""
    stored, numbers = _read(Path(file))
    return _volume(numbers.astype(np.bool_), stored, file)


def _read(path: Path) -> tuple[StoredImage, NDArray[Any]]:
    stored = read_stored(path)
    return stored, _whole_numbers(stored, _spatial(stored.array, path), path)


def _volume(array: NDArray[Any], stored: StoredImage, file: Path) -> Volume:
    spacing = None if stored.spacing is None else stored.spacing[: array.ndim]
    return Volume(array, spacing, stored.affine, Path(file))


def _spatial(array: NDArray[Any], path: Path) -> NDArray[Any]:
    shape = array.shape
    while array.ndim > 3 and array.shape[-1] == 1:
        array = array[..., 0]
    if array.ndim not in (2, 3):
        raise CaseError(
            f"{shown(path)}: a label has two or three axes and one class number a voxel, got "
            f"shape {shape}; one-hot channels and time series must be reduced first"
        )
    return array


def _whole_numbers(stored: StoredImage, array: NDArray[Any], path: Path) -> NDArray[Any]:
    """Return the values if they are whole and not negative."""
    with np.errstate(all="ignore"):  # damaged files hold NaN and numbers beyond any range
        if stored.scaled:
            array = array * stored.slope + stored.intercept
        odd = (array != np.rint(array)) | np.isinf(array) if array.dtype.kind == "f" else None
    if odd is not None and odd.any():
        raise CaseError(
            f"{shown(path)}: labels must be whole numbers, got {_listed(array[odd])}; "
            f"is this a probability map or an image?"
        )
    if array.dtype.kind in "fi" and array.min() < 0:
        raise CaseError(
            f"{shown(path)}: labels must not be negative, got {_listed(array[array < 0])}; "
            f"give voxels to leave out in a mask file"
        )
    if array.max() > _LARGEST:
        raise CaseError(f"{shown(path)}: a label is too large, got {_listed(array.max())}")
    return array


def _class_numbers(stored: StoredImage, array: NDArray[Any]) -> NDArray[Any]:
    largest = int(array.max())
    if stored.full_scale in (255, 65535) and largest == stored.full_scale:
        drawn: NDArray[np.bool_] = array == largest
        if (drawn | (array == 0)).all():
            return drawn.view(np.uint8)
    return array.astype(np.min_scalar_type(largest), copy=False)


def _listed(values: NDArray[Any]) -> str:
    distinct = np.unique(values)
    text = ", ".join(f"{v:g}" for v in distinct[:_MOST_LISTED])
    return text + (", ..." if distinct.size > _MOST_LISTED else "")
