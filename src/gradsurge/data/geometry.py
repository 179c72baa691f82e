"""Whether a prediction and a label lie on the same grid."""

import itertools
from typing import Any

import nibabel
import numpy as np
from numpy.typing import NDArray

from gradsurge.data.case_error import CaseError, shown
from gradsurge.data.volume import Volume

# Headers hold float32 or a quaternion, and software rounds: a hundredth of a voxel at the far
# corner is common. A twentieth is still far below what any label means.
_TOLERANCE = 0.05
_CURE = "nothing is resampled: bring both onto one grid, or check that they are of one case"


def check_geometry(prediction: Volume, label: Volume, of: str = "the label's") -> None:
    """Raise unless both have the same shape and, if both files tell, the same affine.

    Affines agree if no corner of the volume moves by more than a twentieth of the smallest voxel
    edge; this covers spacing, origin, rotation and flips.

    Args:
        prediction: (C, *S).
        label: (*S).
        of: whose grid the second one is, for the message.

    Raises:
        CaseError: with both shapes, or how far apart the corners lie.
    """
    shape, expected = prediction.array.shape[1:], label.array.shape
    if shape != expected:
        raise CaseError(
            f"{shown(prediction.source)}: shape {shape} differs from {of} {expected}; {_CURE}"
        )
    if prediction.affine is None or label.affine is None:
        return
    if not same_grid(prediction.affine, label.affine, expected):
        raise CaseError(
            f"{shown(prediction.source)}: its affine differs from {of}: corners lie up to "
            f"{_shift(prediction.affine, label.affine, expected):.3g} mm apart "
            f"({_described(prediction.affine)} against {_described(label.affine)}); "
            f"{_CURE}"
        )


def same_grid(
    first: NDArray[np.float64] | None, second: NDArray[np.float64] | None, shape: tuple[int, ...]
) -> bool:
    """Return whether two affines put every voxel in the same place; an unknown one fits any."""
    if first is None or second is None:
        return True
    edges = np.linalg.norm(np.stack([first, second])[:, :3, : len(shape)], axis=1)
    return _shift(first, second, shape) <= _TOLERANCE * float(edges.min())


def _shift(first: NDArray[Any], second: NDArray[Any], shape: tuple[int, ...]) -> float:
    """Return the largest distance in mm between the same corner under two affines."""
    axes = [(0, n - 1) for n in (*shape, 1, 1)[:3]]
    corners = np.array([(*corner, 1) for corner in itertools.product(*axes)], dtype=np.float64)
    return float(np.linalg.norm((corners @ (first - second).T)[:, :3], axis=1).max())


def _described(affine: NDArray[Any]) -> str:
    codes = "".join(code or "?" for code in nibabel.aff2axcodes(affine))
    spacing = "x".join(f"{n:.4g}" for n in np.linalg.norm(affine[:3, :3], axis=0))
    origin = ", ".join(f"{n:.4g}" for n in affine[:3, 3])
    return f"axes {codes}, spacing {spacing}, origin {origin}"
