"""Maps, masks and labels that lie on the grid of a scan."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.axes import channels_first
from gradsurge.data.case_error import CaseError, shown
from gradsurge.data.formats import read_stored
from gradsurge.data.geometry import check_geometry
from gradsurge.data.labels import read_label
from gradsurge.data.predictions import values_of
from gradsurge.data.volume import Volume

_ROUNDING = 1e-5
_LARGEST = 255


def read_maps(file: Path, like: Volume) -> NDArray[Any]:
    """Return probabilities (C, *S), float32 or float64.

    Args:
        file: NIfTI, TIFF, .npy, or nnU-Net's .npz.
        like: an array (*S) on the grid of the scan.

    Raises:
        CaseError: it cannot be read, lies on another grid, or holds no probabilities.
    """
    stored = read_stored(file)
    values, _ = values_of(stored, channels_first(stored, file, like))
    check_geometry(Volume(values, None, stored.affine, file), like, "the scan's")
    low, high = float(values.min()), float(values.max())
    if not (low >= -_ROUNDING and high <= 1.0 + _ROUNDING):  # NaN, too
        raise CaseError(
            f"{shown(file)}: expected probabilities from 0 to 1, got values from {low:.4g} to "
            f"{high:.4g}; logits and NaN are not shown: apply softmax or sigmoid first"
        )
    # Viewers take what is below 0 for values with colours of their own.
    clipped: NDArray[Any] = np.clip(values, 0.0, 1.0, out=values)
    return clipped


def read_classes(file: Path, like: Volume) -> NDArray[np.uint8]:
    """Return class numbers (*S) of a label or mask.

    Raises:
        CaseError: it cannot be read, lies on another grid, or has numbers above 255.
    """
    volume = read_label(file)
    array = volume.array
    lies = Volume(array[None], volume.spacing, volume.affine, file)
    check_geometry(lies, like, "the scan's")
    if int(array.max()) > _LARGEST:
        raise CaseError(
            f"{shown(file)}: class numbers up to {_LARGEST} can be shown, got {int(array.max())}"
        )
    numbers: NDArray[np.uint8] = array.astype(np.uint8, copy=False)
    return numbers
