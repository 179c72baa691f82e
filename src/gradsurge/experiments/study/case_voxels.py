"""Which voxels a stored case is measured on, their labels, and a run's answer for them.

A model is measured where its readers use it: on the voxels of the source. Data sets whose published
protocol looks at the prepared picture (a central patch, a fixed size) are measured on that one.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from gradsurge.data import CaseError, Volume, binarise, read_label
from gradsurge.data.case_error import shown
from gradsurge.data.grid import Grid
from gradsurge.data.preprocessing import turned_shape
from gradsurge.data.store import Store, StoredCase
from gradsurge.experiments.evaluation.settings import Settings
from gradsurge.experiments.evaluation.structures import Structures, structures_of
from gradsurge.experiments.prediction.on_source import keeps_voxels
from gradsurge.experiments.prediction.record import source_classes
from gradsurge.experiments.study.run_maps import RunMaps

ON_PREPARED = ("fives", "inbreast", "brats-mets", "kits")
"""Data sets that the paper measures as they are prepared: cut out, resized or resampled.

Its shares of foreground (0.17 and 0.68 %) are those of the cut volumes, and the smallest lesion of
its Table 6, 10.125 mm³, has three voxels of 1.5 mm. On whole scans there is several times as much
background that everybody gets right, and every score would look better than the published ones.
"""


@dataclass(frozen=True)
class CaseVoxels:
    """The label of a case, and how a prediction gets onto its voxels.

    Attributes:
        label: class numbers of the store, uint8 (*S), with their spacing.
        grid: the way from the prepared image to the source; None where the label lies on the
            prepared voxels themselves, or the source has no others.
    """

    label: Volume
    grid: Grid | None


def case_voxels(store: Store, name: str) -> CaseVoxels:
    """Return the label of a case of a store where it is measured.

    Raises:
        CaseError: the source's label is gone or is another one.
    """
    case = store.case(name)
    if not on_source(store, case):
        label = Volume(case.read_label(), case.spacing, None, case.folder)
        return CaseVoxels(label, None)
    return CaseVoxels(_source_label(store, case), case.grid)


def on_source(store: Store, case: StoredCase) -> bool:
    """Tell whether a case is measured on voxels of its source that the prepared image has not.

    A prepared image with all voxels of its source, turned at most, gives the same numbers.
    """
    grid = case.grid
    if grid is None or store.dataset.name in ON_PREPARED:
        return False
    whole = tuple((0, n) for n in turned_shape(grid))
    return not (keeps_voxels(grid) and tuple(grid.crop) == whole)


def _source_label(store: Store, case: StoredCase) -> Volume:
    file = case.source_files.get("label")
    if file is None or case.grid is None:
        raise CaseError(f"{case.name}: the store knows of no raw label; prepare it anew")
    label = _read(file)
    if label.array.shape != case.grid.source_shape:
        raise CaseError(
            f"{shown(file)}: has shape {label.array.shape}, expected {case.grid.source_shape} as "
            f"when the store was prepared; prepare it anew"
        )
    numbers = source_classes(store.dataset)
    array = label.array
    if numbers is not None:
        (values,) = numbers.values()
        array = binarise(array, values)
    spacing = label.spacing or case.grid.source_spacing
    return Volume(array.astype(np.uint8), tuple(spacing), None, file)


def _read(file: Path) -> Volume:
    try:
        return read_label(file)
    except (CaseError, OSError) as error:
        raise CaseError(
            f"{error}; a case is measured against its raw label, so the raw folder must stay where "
            f"the store was prepared from"
        ) from error


def case_structures(
    maps: RunMaps,
    logits: Tensor,
    correction: str,
    voxels: CaseVoxels,
    settings: Settings,
    *,
    exact: bool,
) -> Structures:
    """Return scores, labels and masks of the structures after a correction.

    Args:
        maps: the run at work.
        logits: (K, *T) on the prepared voxels.
        correction: its name.
        voxels: where the case is measured.
        settings: of the evaluation.
        exact: whether scores are logits, of which likelihoods are exact; only where the measured
            voxels are the network's.

    Raises:
        CaseError: label and prediction do not fit.
    """
    if exact:
        values: NDArray[Any] = maps.corrected_logits(logits, correction)
    else:
        values = maps.probabilities(logits, correction, voxels.grid)
    label = voxels.label
    return structures_of(Volume(values, label.spacing, None, label.source), label, settings)
