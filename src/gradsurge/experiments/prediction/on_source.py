"""One channel at a time, or a mask, from the grid of the prepared image to that of its source."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.grid import Grid
from gradsurge.data.preprocessing import (
    slab_to_source,
    source_slabs,
    to_source,
    turned,
    turned_back,
    turned_shape,
)
from gradsurge.experiments.prediction.mask_rule import MaskRule


def channel_on_source(
    channel: NDArray[np.float32], grid: Grid | None, outside: float = 0.0
) -> NDArray[np.float32]:
    """Return (*S) of the source of (*T) of the prepared image, in [0, 1].

    Args:
        channel: probabilities.
        grid: of the prepared image; None where it has no source.
        outside: the value where the image was cropped away.
    """
    if grid is None:
        return channel
    if keeps_voxels(grid) and tuple(grid.crop) == tuple((0, n) for n in turned_shape(grid)):
        view: NDArray[np.float32] = turned_back(channel, grid.axes, grid.flips)
        return view  # all of the same voxels: no copy of a large volume
    source: NDArray[np.float32] = to_source(channel[None], grid, [outside])[0]
    np.clip(source, 0.0, 1.0, out=source)
    return source


def mask_on_source(mask: NDArray[np.uint8], grid: Grid | None) -> NDArray[np.uint8]:
    """Return class numbers (*S) of the source of (*T), 0 where the image was cropped away.

    Only for grids that keep the source's voxels.
    """
    if grid is None:
        return mask
    whole = np.zeros(turned_shape(grid), np.uint8)
    spans = [
        (max(start, 0), min(stop, n), start)
        for (start, stop), n in zip(grid.crop, whole.shape, strict=True)
    ]
    inside = tuple(slice(first, max(last, first)) for first, last, _ in spans)
    cut = tuple(slice(first - start, max(last, first) - start) for first, last, start in spans)
    whole[inside] = mask[cut]
    view: NDArray[np.uint8] = turned_back(whole, grid.axes, grid.flips)
    return view


def decided_on_source(
    raw: Sequence[NDArray[np.float32]], rule: MaskRule, grid: Grid | None
) -> NDArray[np.uint8]:
    """Return the mask (*S) on the source of probabilities (*T) of each class or region.

    A slab at a time: neither probabilities nor what a rule notes of them is held for all voxels.
    """
    if grid is None:
        whole = rule.new_mask(raw[0].shape)
        for index, p in enumerate(raw):
            whole.add(index, p)
        return whole.finished()
    mask = np.empty(grid.source_shape, np.uint8)
    in_turn = turned(mask, grid.axes, grid.flips)
    for rows in source_slabs(grid):
        slab = rule.new_mask(in_turn[rows].shape)
        for index, p in enumerate(raw):
            slab.add(index, np.clip(slab_to_source(p, grid, rows), 0.0, 1.0))
        in_turn[rows] = slab.finished()
    return mask


def keeps_voxels(grid: Grid | None) -> bool:
    """Tell whether the prepared image has voxels of its source, turned and cropped at most."""
    return grid is None or grid.resampled_shape == turned_shape(grid)
