"""The worst cases, to be looked at: one slice each, where the error is largest."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradsurge.data import CaseError, Volume, find_image, read_image
from gradsurge.experiments.evaluation.case import CaseTask, read_case
from gradsurge.experiments.evaluation.result import CaseLook, Evaluation
from gradsurge.experiments.evaluation.structures import Structures

Floats = NDArray[np.floating[Any]]

_MOST_PIXELS = 512  # a side; larger slices are thinned out


def worst_looks(
    evaluation: Evaluation, tasks: Sequence[CaseTask], images: Path | None, number: int = 3
) -> list[CaseLook]:
    """Return the cases of each model with the highest NLL in the primary region, worst first."""
    region, label = evaluation.settings.regions[0], evaluation.headline
    files = {(task.model, task.case): task for task in tasks}
    found = []
    for model in evaluation.models.values():
        rows = [r for r in model.rows if (r.region, r.label) == (region, label)]
        rows.sort(key=lambda row: (-np.nan_to_num(row.scores["nll"]), row.case))
        for row in rows[:number]:
            task = files[row.model, row.case]
            found += _looks(task, evaluation, images)
    return found


def _looks(task: CaseTask, evaluation: Evaluation, images: Path | None) -> list[CaseLook]:
    """Return a look at a case; none if its files changed since it was scored."""
    try:
        structures, label, _ = read_case(task, evaluation.settings)
    except CaseError:
        return []
    return [_look(task, structures, label, _scan(images, task.case, label))]


def _scan(folder: Path | None, case: str, label: Volume) -> Floats | None:
    """Return the scan of a case; a picture without one is still worth a look."""
    file = None if folder is None else find_image(folder, case)
    try:
        return None if file is None else read_image(file, label)
    except CaseError:
        return None


def _look(task: CaseTask, structures: Structures, label: Volume, image: Floats | None) -> CaseLook:
    p, truth = structures.probabilities, structures.labels
    error = np.abs(p - truth)
    k = int(error.sum(axis=tuple(range(1, error.ndim))).argmax())
    cut = _worst_slice(error[k], structures.spacing, nifti=label.affine is not None)
    planes = (
        None if image is None else _plane(image, cut),
        _plane(truth[k], cut),
        _plane(p[k], cut),
    )
    return CaseLook(
        model=task.model,
        case=task.case,
        label_name=structures.names[k],
        slice_name=cut.name,
        image=planes[0],
        label=planes[1],
        probability=planes[2].astype(np.float32),
        aspect=cut.aspect,
    )


class _Cut(NamedTuple):
    """Where a volume is cut; an image has no axis to cut across.

    ``nifti``: axes are (x, y, z), and those of the plane go right and up; otherwise (z, y, x), as
    stacks of pictures have them, and those of the plane go down and right.
    """

    nifti: bool
    axis: int | None
    position: int
    aspect: float
    name: str


def _worst_slice(error: Floats, spacing: tuple[float, ...], nifti: bool) -> _Cut:
    axis, position, name = None, 0, ""
    if error.ndim == 3:
        axis = _axis_across(spacing, usual=2 if nifti else 0)
        others = tuple(a for a in range(3) if a != axis)
        position = int(error.sum(axis=others).argmax())
        name = f"slice {position + 1} of {error.shape[axis]}, axis {axis + 1}"
    first, second = (s for a, s in enumerate(spacing) if a != axis)
    return _Cut(nifti, axis, position, second / first if nifti else first / second, name)


def _axis_across(spacing: tuple[float, ...], usual: int) -> int:
    """Return the axis of the thickest voxels; the usual one if they are as thick there."""
    thickest = int(np.argmax(spacing))
    return usual if spacing[usual] > 0.99 * spacing[thickest] else thickest


def _plane(array: NDArray[Any], cut: _Cut) -> NDArray[Any]:
    """Return the slice as it is usually shown, thinned out if large."""
    plane = array if cut.axis is None else array.take(cut.position, axis=cut.axis)
    if cut.nifti:
        plane = np.flip(plane.T, axis=0)
    step = -(-max(plane.shape) // _MOST_PIXELS)
    return plane[::step, ::step]
