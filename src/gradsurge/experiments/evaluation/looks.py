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
            structures, volume = read_case(task, evaluation.settings)
            found.append(_look(task, structures, _scan(images, task.case, volume)))
    return found


def _scan(folder: Path | None, case: str, label: Volume) -> Floats | None:
    """Return the scan of a case; a picture without one is still worth a look."""
    file = None if folder is None else find_image(folder, case)
    try:
        return None if file is None else read_image(file, label)
    except CaseError:
        return None


def _look(task: CaseTask, structures: Structures, image: Floats | None) -> CaseLook:
    p, truth = structures.probabilities, structures.labels
    error = np.abs(p - truth)
    k = int(error.sum(axis=tuple(range(1, error.ndim))).argmax())
    cut = _worst_slice(error[k], structures.spacing)
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
    """Where a volume is cut; an image has no axis to cut across."""

    axis: int | None
    position: int
    aspect: float
    name: str


def _worst_slice(error: Floats, spacing: tuple[float, ...]) -> _Cut:
    if error.ndim == 2:
        return _Cut(None, 0, spacing[0] / spacing[1], "")
    thickest = int(np.argmax(spacing))
    axis = 2 if spacing[thickest] == spacing[2] else thickest
    others = [a for a in range(3) if a != axis]
    index = int(error.sum(axis=tuple(others)).argmax())
    aspect = spacing[others[1]] / spacing[others[0]]
    return _Cut(axis, index, aspect, f"slice {index + 1} of {error.shape[axis]}, axis {axis + 1}")


def _plane(array: NDArray[Any], cut: _Cut) -> NDArray[Any]:
    """Return the slice as it is usually shown, second axis upwards, thinned out if large."""
    plane = array
    if cut.axis is not None:
        plane = np.flip(array.take(cut.position, axis=cut.axis).T, axis=0)
    step = -(-max(plane.shape) // _MOST_PIXELS)
    return plane[::step, ::step]
