"""Turning volumes so that their axes run to the right, the front and the head (RAS+)."""

from collections.abc import Sequence
from typing import Any

import nibabel
import numpy as np
from numpy.typing import NDArray


def turn_to_ras(
    affine: NDArray[np.float64],
) -> tuple[tuple[int, ...], tuple[bool, ...]] | None:
    """Return ``axes`` and ``flips`` of `Grid` that turn a volume to RAS+; None if none do.

    Oblique volumes are turned to the nearest axes, never resampled.

    >>> turn_to_ras(np.diag([-1.0, -1.0, 2.0, 1.0]))
    ((0, 1, 2), (True, True, False))
    """
    orientation = nibabel.orientations.io_orientation(affine)
    if not np.isfinite(orientation).all():
        return None
    axes = np.argsort(orientation[:, 0])
    return tuple(int(a) for a in axes), tuple(bool(orientation[a, 1] < 0) for a in axes)


def turned(array: NDArray[Any], axes: Sequence[int], flips: Sequence[bool]) -> NDArray[Any]:
    """Return a view of (..., *S) with S turned: axis i is axis ``axes[i]``, reversed if flipped."""
    lead = array.ndim - len(axes)
    view: NDArray[Any] = array.transpose(*range(lead), *(lead + a for a in axes))[_reversed(flips)]
    return view


def turned_back(array: NDArray[Any], axes: Sequence[int], flips: Sequence[bool]) -> NDArray[Any]:
    """Return a view that undoes `turned`."""
    lead = array.ndim - len(axes)
    view: NDArray[Any] = array[_reversed(flips)]
    return view.transpose(*range(lead), *(lead + int(a) for a in np.argsort(axes)))


def _reversed(flips: Sequence[bool]) -> tuple[Any, ...]:
    return (..., *(slice(None, None, -1 if flip else 1) for flip in flips))
