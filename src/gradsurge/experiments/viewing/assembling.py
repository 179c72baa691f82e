"""Scan, label and models put together, if they fit."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.case_error import CaseError, shown
from gradsurge.data.case_files import find_files
from gradsurge.data.volume import Volume
from gradsurge.experiments.viewing.case_view import CaseView, ModelView
from gradsurge.experiments.viewing.laid_out import LaidOut, lay_out
from gradsurge.experiments.viewing.overlays import read_classes
from gradsurge.experiments.viewing.prediction_folder import few
from gradsurge.experiments.viewing.request import ViewRequest
from gradsurge.experiments.viewing.scan import Scan
from gradsurge.experiments.viewing.structure import Structure


@dataclass(frozen=True)
class Base:
    """What the models are laid upon.

    Attributes:
        case: its name.
        scan: None if there is none.
        like: an array (*S) on the grid of everything.
        label: file that was found without being asked for; None if there is none.
        notes: what a reader should know.
    """

    case: str
    scan: Scan | None
    like: Volume
    label: Path | None
    notes: tuple[str, ...]


def assemble(request: ViewRequest, base: Base, models: Sequence[ModelView]) -> CaseView:
    """Return the case with its models.

    Raises:
        ValueError: the models tell different structures, or not the one that was asked for.
        CaseError: the label that was asked for cannot be shown.
    """
    names = [[s.name for s in model.structures] for model in models]
    if any(other != names[0] for other in names[1:]):
        raise ValueError(
            f"{models[0].name} and {models[1].name} tell different structures ({few(names[0])}; "
            f"{few(names[1])}); only models of the same ones go side by side"
        )
    shape, affine = base.like.array.shape, base.like.affine
    layout = lay_out(shape, affine, base.like.spacing)
    label, title, problem = _label(request, base)
    notes = (*base.notes, *problem, *_thinning(layout))
    chosen = tuple(replace(m, structures=_chosen(m.structures, request)) for m in models)
    return CaseView(base.case, layout, base.scan, label, title, chosen, notes)


def _label(
    request: ViewRequest, base: Base
) -> tuple[NDArray[np.uint8] | None, str, tuple[str, ...]]:
    """Return the label, where it comes from, and what is wrong with one that nobody asked for."""
    if request.label is not None:
        file = _file_of(request.label, base.case)
        return read_classes(file, base.like), file.name, ()
    if base.label is None:
        return None, "", ()
    try:
        return read_classes(base.label, base.like), base.label.name, ()
    except CaseError as error:
        return None, "", (f"no label: {error}",)


def _file_of(place: Path, case: str) -> Path:
    if not place.is_dir():
        return place
    files = find_files(place)
    if case not in files:
        raise ValueError(f"--label: {shown(place)} has no file of {case!r}; it has {few([*files])}")
    return files[case][0]


def _chosen(structures: Sequence[Structure], request: ViewRequest) -> tuple[Structure, ...]:
    if not request.structures:
        return tuple(structures)
    known = {structure.name: structure for structure in structures}
    for name in request.structures:
        if name not in known:
            raise ValueError(f"--structure: there is no {name!r}; there are {few([*known])}")
    return tuple(known[name] for name in dict.fromkeys(request.structures))


def _thinning(layout: LaidOut) -> tuple[str, ...]:
    largest = max(layout.steps)
    if largest == 1:
        return ()
    size = " x ".join(map(str, layout.source_shape))
    return (f"one voxel of {largest} is shown along the long axes: {size} are too many for a page",)
