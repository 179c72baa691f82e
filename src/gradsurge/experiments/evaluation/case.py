"""One case of one model: read, check, count. What a worker does, here or on another machine."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsurge.calibration.lesions import CaseLesions, find_lesions
from gradsurge.calibration.logit_table import LogitSums
from gradsurge.calibration.overlap import dice, surface_scores
from gradsurge.calibration.regions import active_region, boundary_band
from gradsurge.calibration.sketch import CalibrationSketch
from gradsurge.data import CaseError, Volume, check_geometry, read_label, read_mask, read_prediction
from gradsurge.experiments.evaluation.settings import Region, Settings
from gradsurge.experiments.evaluation.structures import Structures, structures_of

CLASSES = "classes"  # the logit table of exclusive classes, which has a row a class


@dataclass(frozen=True)
class CaseTask:
    """Files of a case."""

    model: str
    case: str
    prediction: tuple[Path, ...]
    label: Path
    mask: Path | None


@dataclass
class CaseResult:
    """What a worker sends back: small, whatever the size of the case; or the reason why not."""

    task: CaseTask
    problem: str | None = None
    names: list[str] = field(default_factory=list)
    dimensions: int = 0
    sketches: dict[Region, CalibrationSketch] = field(default_factory=dict)
    overlap: dict[str, dict[str, float]] = field(default_factory=dict)
    lesions: dict[str, CaseLesions] = field(default_factory=dict)
    logits: dict[str, LogitSums] = field(default_factory=dict)


def read_case(task: CaseTask, settings: Settings) -> tuple[Structures, Volume]:
    """Read and check the files of a case.

    Raises:
        CaseError: whatever is wrong with them.
    """
    label = read_label(task.label)
    prediction = read_prediction(task.prediction, label)
    check_geometry(prediction, label)
    found = structures_of(prediction, label, settings)
    if not settings.allow_empty and not found.labels.any():
        raise CaseError("the label is empty: left out (--allow-empty scores it)")
    return found, label


def evaluate_case(task: CaseTask, settings: Settings) -> CaseResult:
    """Measure one case; a fault of its files becomes the result's ``problem``."""
    try:
        found, label = read_case(task, settings)
        result = CaseResult(task, names=found.names, dimensions=label.array.ndim)
        for region in settings.regions:
            voxels = _voxels(region, found, task, label, settings)
            result.sketches[region] = _count(found, voxels)
    except CaseError as error:
        return CaseResult(task, problem=str(error))
    except MemoryError:
        return CaseResult(task, problem="out of memory")
    for k, name in enumerate(found.names):
        result.overlap[name] = _overlap(found, k, settings)
        if settings.lesions:
            p, truth, mask = found.probabilities[k], found.labels[k], found.masks[k]
            result.lesions[name] = find_lesions(p, truth, mask, found.spacing, case=task.case)
    result.logits = _logits(found)
    return result


def _voxels(
    region: Region, found: Structures, task: CaseTask, label: Volume, settings: Settings
) -> NDArray[np.bool_] | None:
    """Return which voxels count; None for all of them."""
    if region == "all":
        return None
    truth = np.logical_or.reduce(found.labels)
    if region == "active":
        return active_region(truth, np.logical_or.reduce(found.masks))
    if region == "band":
        return boundary_band(truth, found.spacing, settings.band_mm)
    if task.mask is None:
        raise CaseError("there is no mask file of this name in the folder of masks")
    mask = read_mask(task.mask)
    check_geometry(Volume(mask.array[None], mask.spacing, mask.affine, mask.source), label)
    return mask.array


def _count(found: Structures, voxels: NDArray[np.bool_] | None) -> CalibrationSketch:
    sketch = found.empty_sketch()
    update = sketch.update_logits if found.logits else sketch.update_probabilities
    # NIfTI arrays run first axis fastest; counting does not mind, and reversed they need no copy.
    scores, target = _memory_order(found.scores, 1), found.target
    target = _memory_order(target, found.target.ndim - found.labels[0].ndim)
    mask = None if voxels is None else _memory_order(voxels, 0)[None]
    update(scores[None], target[None], mask)
    return sketch


def _memory_order(array: NDArray[Any], channels: int) -> NDArray[Any]:
    """Return the array with its axes behind the channels reversed."""
    return array.transpose(*range(channels), *range(array.ndim - 1, channels - 1, -1))


def _overlap(found: Structures, k: int, settings: Settings) -> dict[str, float]:
    mask, truth = found.masks[k], found.labels[k]
    scores = {"dice": dice(mask, truth)}
    if settings.surface_mm is not None:
        scores["nsd"], scores["hd95"] = surface_scores(
            mask, truth, found.spacing, settings.surface_mm
        )
    return scores


def _logits(found: Structures) -> dict[str, LogitSums]:
    if found.kind == "multilabel":
        parts = [
            (name, found.scores[k : k + 1], found.labels[k], 2)
            for k, name in enumerate(found.names)
        ]
    else:
        name = found.names[0] if found.kind == "binary" else CLASSES
        parts = [(name, found.scores, found.target, found.classes)]
    sums = {name: LogitSums(classes) for name, _, _, classes in parts}
    for name, scores, target, _ in parts:
        add = sums[name].update_logits if found.logits else sums[name].update_probabilities
        add(scores, target)
    return sums
