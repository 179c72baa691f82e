"""Voxels in the order in which a viewer shows them: from left to right, back to front, upwards."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import nibabel
import numpy as np
from numpy.typing import NDArray

# Side of the largest 3D texture that browsers with WebGL 2 can be trusted to have.
LONGEST = 2048


@dataclass(frozen=True)
class LaidOut:
    """How an array (*S) becomes (x, y, z), whose axes point right, forward and up.

    Axes are exchanged and turned round, nothing is resampled: oblique scans stay so. Pictures
    (rows, columns) become one slice with the first row on top.

    Attributes:
        source_shape: S.
        axes: which axis of S each of x, y, z is; of flat images only x and y.
        flips: whether it is turned round.
        steps: one voxel of so many is shown; above 1 only where an axis is too long for a viewer.
        sizes: of a shown voxel along x, y, z; mm, or pixels where nobody told.
        affine: shown voxels to mm, 4x4; None where nobody told.
    """

    source_shape: tuple[int, ...]
    axes: tuple[int, ...]
    flips: tuple[bool, ...]
    steps: tuple[int, ...]
    sizes: tuple[float, float, float]
    affine: NDArray[np.float64] | None

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of what is shown, (x, y, z)."""
        pairs = zip(self.axes, self.steps, strict=True)
        x, y, z = (*(-(-self.source_shape[axis] // step) for axis, step in pairs), 1)[:3]
        return x, y, z

    @property
    def flat(self) -> bool:
        """Whether there is but one slice."""
        return self.shape[2] == 1

    @property
    def voxel_volume(self) -> float | None:
        """Of a voxel of the source, mm³; None for flat images, or where sizes are unknown."""
        if self.flat or self.affine is None:
            return None
        return float(np.prod(self.sizes) / np.prod(self.steps))

    def lay(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return a view (x, y, z) of (*S).

        Raises:
            ValueError: it has another shape.
        """
        if array.shape != self.source_shape:
            raise ValueError(f"array: expected shape {self.source_shape}, got {array.shape}")
        pairs = zip(self.flips, self.steps, strict=True)
        chosen = [slice(None, None, -step if flip else step) for flip, step in pairs]
        laid = array.transpose(self.axes)[tuple(chosen)]
        return laid if laid.ndim == 3 else laid[..., None]


def lay_out(
    shape: Sequence[int],
    affine: NDArray[np.float64] | None,
    spacing: Sequence[float] | None = None,
    longest: int = LONGEST,
) -> LaidOut:
    """Return the layout of an image.

    Args:
        shape: S, two or three axes.
        affine: voxels to mm, 4x4, of NIfTI (x, y, z); None for pictures (rows, columns), and for
            stacks of them (pages, rows, columns).
        spacing: mm along the axes of S, where it is known.
        longest: voxels that are shown along an axis.

    Raises:
        ValueError: there are other than two or three axes.

    >>> lay_out((3, 5), None).lay(np.arange(15).reshape(3, 5))[:2, ::-1, 0].T.tolist()
    [[0, 1], [5, 6], [10, 11]]
    """
    count = len(shape)
    if count not in (2, 3):
        raise ValueError(f"shape: expected two or three axes, got {tuple(shape)}")
    if affine is None:
        axes, flips = tuple(range(count))[::-1], (False, True, False)[:count]
    elif count == 2 or not _spans_space(affine):
        axes, flips = tuple(range(count)), (False,) * count
    else:
        axes, flips = _nearest_axes(affine)
    steps = tuple(max(1, -(-shape[axis] // longest)) for axis in axes)
    told = spacing is not None and len(spacing) >= count and min(spacing) > 0
    edges = [spacing[axis] if spacing is not None and told else 1.0 for axis in axes]
    sizes = [edge * step for edge, step in zip(edges, steps, strict=True)]
    laid = None
    if affine is not None and count == 3 and _spans_space(affine):
        laid = _laid_affine(affine, shape, axes, flips, steps)
        sizes = [float(n) for n in np.linalg.norm(laid[:3, :3], axis=0)]
    x, y, z = (*sizes, 1.0)[:3]
    return LaidOut(tuple(shape), axes, flips, steps, (x, y, z), laid)


def _spans_space(affine: NDArray[np.float64]) -> bool:
    return bool(abs(np.linalg.det(affine[:3, :3])) > 0)


def _nearest_axes(affine: NDArray[np.float64]) -> tuple[tuple[int, ...], tuple[bool, ...]]:
    """Return which axis of the array lies nearest to x, y and z, and whether against them."""
    turns = nibabel.io_orientation(affine)
    axes = tuple(int(n) for n in np.argsort(turns[:, 0]))
    return axes, tuple(bool(turns[axis, 1] < 0) for axis in axes)


def _laid_affine(
    affine: NDArray[np.float64],
    shape: Sequence[int],
    axes: Sequence[int],
    flips: Sequence[bool],
    steps: Sequence[int],
) -> NDArray[np.float64]:
    """Return the affine after exchanging, turning round and thinning out axes."""
    to_source = np.zeros((4, 4))
    to_source[3, 3] = 1.0
    for new, (old, flip, step) in enumerate(zip(axes, flips, steps, strict=True)):
        to_source[old, new] = -step if flip else step
        to_source[old, 3] = shape[old] - 1 if flip else 0
    laid: NDArray[np.float64] = affine @ to_source
    return laid
