"""Where a viewer puts the cursor at first: where there is most to see."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from gradsurge.experiments.viewing.case_view import CaseView
from gradsurge.experiments.viewing.structure import is_one_of


def first_cursor(view: CaseView, structure: int = 0) -> tuple[int, int, int]:
    """Return a laid-out voxel of a structure in the axial slice that has most of it.

    The label tells where it is; without one, or where the label has none, the masks do, and then
    the highest probability. The middle of the volume if there is nothing at all.

    Args:
        view: the case.
        structure: its number.
    """
    for inside in _places(view, structure):
        laid = view.layout.lay(inside)
        if laid.any():
            return _within_fullest(laid)
    x, y, z = (n // 2 for n in view.layout.shape)
    return x, y, z


def _places(view: CaseView, number: int) -> Iterator[NDArray[np.bool_]]:
    if view.label is not None:
        yield is_one_of(view.label, view.structures[number].label_numbers)
    for model in view.models:
        if model.mask is not None:
            yield is_one_of(model.mask, model.structures[number].mask_numbers)
    for model in view.models:
        if model.maps is not None:
            p = model.structures[number].probability(model.maps)
            yield (p > 0) & (p >= p.max())


def _within_fullest(laid: NDArray[np.bool_]) -> tuple[int, int, int]:
    """Return a voxel inside, in the fullest slice along z, near the middle of what is there."""
    z = int(laid.sum(axis=(0, 1)).argmax())
    places = np.argwhere(laid[:, :, z])
    middle = np.median(places, axis=0)
    x, y = places[np.abs(places - middle).sum(axis=1).argmin()]
    return int(x), int(y), z
