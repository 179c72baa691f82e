"""A recalibration of nnU-Net, fitted on what its folds predicted of the cases they left out."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from gradsurge.calibration.recalibration import Recalibration, fit_recalibration
from gradsurge.calibration.sketch import CalibrationSketch
from gradsurge.data.case_error import shown
from gradsurge.data.formats import stem_of, suffix_of
from gradsurge.experiments.evaluation.run import evaluate
from gradsurge.experiments.evaluation.settings import Settings
from gradsurge.experiments.nnunet.outputs import (
    FOLD_ALL,
    check_level,
    reference_folder,
    validation_folders,
)

_SETTINGS = Settings(regions=("all",), lesions=False, allow_empty=True)
_OF_THE_FOLDER = ("dataset.json", "plans.json")


class Fit(NamedTuple):
    """A recalibration and what it was fitted on.

    Attributes:
        recalibration: of all cases together.
        sketch: of these cases.
        cases: how many.
        problems: one line a case that could not be counted.
    """

    recalibration: Recalibration
    sketch: CalibrationSketch
    cases: int
    problems: list[str]


def fit_on_folds(
    model: Path,
    method: str,
    labels: Path | None = None,
    *,
    jobs: int = 1,
    on_tasks: Callable[[int], None] = lambda _: None,
    on_case: Callable[[str], None] = lambda _: None,
) -> Fit:
    """Fit a recalibration on the validation cases of all folds of a trained nnU-Net.

    Args:
        model: folder of a trained model, or of one fold.
        method: as in `fit_recalibration`.
        labels: folder of labels; where nnU-Net found them if left out.
        jobs: processes; 0 for one a core.
        on_tasks: called with the number of cases before the work.
        on_case: called with the name of each case after it.

    Raises:
        ValueError: the folder is none of nnU-Net's, has no probabilities, or its labels are gone.
    """
    folds = _folds(model)
    found = evaluate(
        {"folds": model},
        _labels(folds, labels),
        _SETTINGS,
        jobs=jobs,
        on_tasks=on_tasks,
        on_case=lambda case: on_case(case.task.case),
    )
    counted = found.models["folds"]
    sketch = counted.sketches["all"]
    names = ", ".join(fold.parent.name for fold in folds)
    words = f"{len(counted.cases)} validation cases of {names} of {folds[0].parents[1].name}"
    return Fit(
        fit_recalibration(method, sketch, words),
        sketch,
        len(counted.cases),
        [f"{p.case}: {p.message}" for p in counted.problems],
    )


def copy_companions(predictions: Path, out: Path) -> None:
    """Copy what nnU-Net keeps beside its probabilities: masks, properties, plans.

    So the folder of recalibrated maps has the geometry, and can be ensembled by nnU-Net. Masks
    stay nnU-Net's own; files are copied as they are, and none is opened.
    """
    stems = {stem_of(file) for file in out.iterdir() if suffix_of(file) == ".npz"}
    for file in sorted(predictions.iterdir()):
        beside = suffix_of(file) not in (None, ".npz") or file.suffix == ".pkl"
        if file.name in _OF_THE_FOLDER or (beside and stem_of(file) in stems):
            shutil.copyfile(file, out / file.name)


def _folds(model: Path) -> list[Path]:
    folds = validation_folders(model)
    if any(fold.parent.name == FOLD_ALL for fold in folds):
        check_level(folds[0].parents[1])
    if not folds:
        check_level(model)
        raise ValueError(
            f"{shown(model)}: expected a trained model of nnU-Net, with fold_0/validation and so "
            f"on, or one of its folds"
        )
    return folds


def _labels(folds: list[Path], labels: Path | None) -> Path:
    if labels is not None:
        return labels
    known = {reference_folder(fold) for fold in folds} - {None}
    if len(known) != 1:
        raise ValueError(
            f"{shown(folds[0])}: its summary.json does not lead to the labels; name their folder "
            f"with --labels (nnUNet_preprocessed/DATASET/gt_segmentations, or labelsTr)"
        )
    (folder,) = known
    assert folder is not None
    return folder
