"""From a source to the grid of the prepared case, step by step; `Grid` says what they mean."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from gradsurge.data.case_error import CaseError, shown
from gradsurge.data.grid import Grid
from gradsurge.data.preprocessing.cropping import Box, bounding_box, scaled_box, widened_box
from gradsurge.data.preprocessing.orientation import turn_to_ras, turned
from gradsurge.data.volume import Volume

# A wrong spacing in a header asks for volumes no machine holds; whole-body CT at 1 mm has 5e8.
_MOST_VOXELS = 2**31


def native_grid(source: Volume) -> Grid:
    """Return the whole of a source (*S), volumes with an affine turned to RAS+.

    Flat images, and volumes without affine, stay as they are.

    Raises:
        CaseError: the affine does not tell where the axes point.
    """
    shape = source.array.shape
    axes, flips = tuple(range(len(shape))), (False,) * len(shape)
    affine = None if source.affine is None else tuple(map(tuple, source.affine.tolist()))
    if len(shape) == 3 and source.affine is not None:
        turn = turn_to_ras(source.affine)
        if turn is None or source.spacing is None:
            raise CaseError(
                f"{shown(source.source)}: the affine does not say where the axes point (a column "
                f"is zero); mend the header"
            )
        axes, flips = turn
    spacing = source.spacing or (1.0,) * len(shape)
    size = tuple(shape[a] for a in axes)
    return Grid(shape, spacing, affine, axes, flips, size, tuple((0, n) for n in size))


def resized(grid: Grid, shape: Sequence[int]) -> Grid:
    """Return the grid resampled to a shape, uncropped."""
    return replace(grid, resampled_shape=tuple(shape), crop=tuple((0, n) for n in shape))


def at_spacing(grid: Grid, spacing: Sequence[float], source: Volume) -> Grid:
    """Return the grid resampled to a spacing in mm along its turned axes, as near as voxels allow.

    Raises:
        CaseError: the header's spacing would make the volume absurdly large.
    """
    extent = [grid.source_shape[a] * grid.source_spacing[a] for a in grid.axes]
    # Headers hold float32: whether x.4999999 or x.5 is written must not decide.
    shape = [max(1, round(round(e / s, 3))) for e, s in zip(extent, spacing, strict=True)]
    if math.prod(shape) > _MOST_VOXELS:
        raise CaseError(
            f"{shown(source.source)}: its spacing {grid.source_spacing} mm would make it "
            f"{'x'.join(map(str, shape))} voxels at {tuple(spacing)} mm; mend the header"
        )
    return resized(grid, shape)


def cropped(grid: Grid, box: Box) -> Grid:
    """Return the grid cut to a box of the resampled volume."""
    return replace(grid, crop=box)


def region_grid(
    source: Volume,
    spacing: Sequence[float] | None = None,
    region: NDArray[Any] | None = None,
    margin: int = 0,
) -> Grid:
    """Return a source turned to RAS+, resampled, and cut to the box round a region.

    Args:
        source: (*S).
        spacing: mm along the turned axes; None keeps the source's.
        region: (*S), not 0 where the case is to be kept; None, or zeros, keep everything.
        margin: voxels more on each side, counted after resampling, as far as the source reaches.

    Raises:
        CaseError: the header's affine or spacing makes no sense.
    """
    grid = native_grid(source)
    box = None if region is None else bounding_box(turned(region, grid.axes, grid.flips))
    if spacing is not None:
        grid = at_spacing(grid, spacing, source)
    if box is None:
        return grid
    box = scaled_box(box, turned_shape(grid), grid.resampled_shape)
    return cropped(grid, widened_box(box, margin, grid.resampled_shape))


def turned_shape(grid: Grid) -> tuple[int, ...]:
    """Return the shape of the source after turning, before resampling."""
    return tuple(grid.source_shape[a] for a in grid.axes)


def prepared_spacing(grid: Grid) -> tuple[float, ...]:
    """Return the mm along each axis of the prepared array; whole voxels fill the extent."""
    return tuple(
        grid.source_spacing[a] * grid.source_shape[a] / n
        for a, n in zip(grid.axes, grid.resampled_shape, strict=True)
    )
