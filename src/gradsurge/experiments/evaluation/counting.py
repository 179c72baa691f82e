"""Voxels of a case, counted: a sketch a region, and sums of logits."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsurge.calibration.known_cases import KnownCases
from gradsurge.calibration.logit_table import LogitSums
from gradsurge.calibration.regions import active_region, boundary_band
from gradsurge.calibration.sketch import CalibrationSketch
from gradsurge.data import CaseError, Volume, check_geometry, read_mask
from gradsurge.data.case_error import printable
from gradsurge.experiments.evaluation.settings import Region, Settings
from gradsurge.experiments.evaluation.structures import Structures

CLASSES = "classes"  # the logit table of exclusive classes, which has a row a class


def count_regions(
    found: Structures, label: Volume, settings: Settings, masks: tuple[Path, ...] = ()
) -> dict[Region, CalibrationSketch]:
    """Return a sketch of each region that is asked for.

    Args:
        found: what is counted.
        label: of the case, by which the sketches know it.
        settings: with the regions.
        masks: the mask file of the case, for the region "mask".

    Raises:
        CaseError: there is no mask file, or the values are no probabilities.
    """
    return {
        region: _count(found, _voxels(region, found, masks, label, settings), label)
        for region in settings.regions
    }


def _voxels(
    region: Region,
    found: Structures,
    masks: tuple[Path, ...],
    label: Volume,
    settings: Settings,
) -> NDArray[np.bool_] | None:
    """Return which voxels count; None for all of them."""
    if region == "all":
        return None
    truth = np.logical_or.reduce(found.labels)
    if region == "active":
        return active_region(truth, np.logical_or.reduce(found.masks))
    if region == "band":
        return boundary_band(truth, found.spacing, settings.band_mm)
    if len(masks) != 1:
        listed = printable(", ".join(file.name for file in masks)) or "none"
        raise CaseError(f"expected one mask file of this name, {settings.masks} holds {listed}")
    mask = read_mask(masks[0])
    check_geometry(Volume(mask.array[None], mask.spacing, mask.affine, mask.source), label)
    return mask.array


def _count(found: Structures, voxels: NDArray[np.bool_] | None, label: Volume) -> CalibrationSketch:
    sketch = found.empty_sketch()
    update = sketch.update_logits if found.logits else sketch.update_probabilities
    # NIfTI arrays run first axis fastest; counting does not mind, and reversed they need no copy.
    scores, target = _memory_order(found.scores, 1), found.target
    target = _memory_order(target, found.target.ndim - found.labels[0].ndim)
    mask = None if voxels is None else _memory_order(voxels, 0)[None]
    try:
        update(scores[None], target[None], mask)
    except ValueError as error:  # its checks are its own: ten channels of 8 bits may sum to 0.98
        raise CaseError(str(error)) from error
    # By the file's label: other sets of its classes do not make it another case.
    sketch.cases = KnownCases.of(_memory_order(label.array, 0), scores, sketch.voxels)
    return sketch


def _memory_order(array: NDArray[Any], channels: int) -> NDArray[Any]:
    """Return the array with its axes behind the channels reversed."""
    return array.transpose(*range(channels), *range(array.ndim - 1, channels - 1, -1))


def logit_sums(found: Structures) -> dict[str, LogitSums]:
    """Return the logits of each structure, or of exclusive classes together, by class of the label.

    Where the scores are probabilities, their logarithms.
    """
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
