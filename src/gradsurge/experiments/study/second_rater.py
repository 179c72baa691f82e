"""The second rater, measured like a run: where the labels of two people differ, no model can win.

Where a data set has the labels of two raters (CHASE_DB1), the first one's are the truth, and the
second one's are a map of 0 and 1. Its record stands beside those of the runs.
"""

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gradsurge.calibration.overlap import dice
from gradsurge.data import CaseError, Volume, read_mask
from gradsurge.data.case_error import shown
from gradsurge.data.store import Store
from gradsurge.experiments.evaluation.counting import count_regions
from gradsurge.experiments.evaluation.scoring import mean_of
from gradsurge.experiments.evaluation.structures import structures_of
from gradsurge.experiments.recipes import Recipe
from gradsurge.experiments.runs.corrections import NONE
from gradsurge.experiments.runs.task import task_of
from gradsurge.experiments.study.case_voxels import CaseVoxels, case_voxels
from gradsurge.experiments.study.digests import digest
from gradsurge.experiments.study.kept_records import KeptRecords
from gradsurge.experiments.study.measure_settings import MeasureSettings
from gradsurge.experiments.study.measured import Measured
from gradsurge.experiments.study.provenance import provenance
from gradsurge.experiments.study.record import Record, write_record
from gradsurge.experiments.study.score_tally import ByRegion, Scores, ScoreTally

SECOND_RATER = "second-rater"
"""Variant of the record."""
_EXTRA, _ROLE, _RUN = "second_rater", "label_2", "labels"


def keep_second_rater(recipe: Recipe, folder: Path, store: Store) -> None:
    """Write the record of the second rater, if the test cases have one and it is not there.

    Args:
        recipe: of the study.
        folder: of the study.
        store: its cases.

    Raises:
        CaseError: the label of a case is gone or is another one.
    """
    names = store.split("test")
    if not all(_EXTRA in store.case(name).extras for name in names):
        return
    if not names or kept_second_rater(recipe, folder) is not None:
        return
    record = Record(
        recipe=recipe.name,
        scale=recipe.scale,
        variant=SECOND_RATER,
        run=_RUN,
        point={},
        wanted=_wanted(recipe),
        trained="",
        selection={},
        validation={},
        training={},
        measured=measure_second_rater(store, recipe.evaluation.regions),
        provenance=provenance(),
    )
    write_record(folder, record)


def kept_second_rater(recipe: Recipe, folder: Path) -> Record | None:
    """Return the record of the second rater; None if there is none that answers the recipe."""
    record = KeptRecords(recipe, folder).read(SECOND_RATER, _RUN)
    return record if record is not None and record.wanted == _wanted(recipe) else None


def measure_second_rater(
    store: Store, regions: tuple[str, ...] = MeasureSettings.regions
) -> Measured:
    """Measure the second rater's labels of the test cases against the first one's.

    Args:
        store: of a data set with one foreground class and labels of two raters.
        regions: voxels that count.

    Raises:
        CaseError: the label of a case is gone or is another one.
    """
    task, cases = task_of(store.dataset), store.split("test")
    settings = MeasureSettings(regions=regions).evaluation(task, logits=False)  # type: ignore[arg-type]
    tally, scores = ScoreTally(task.names, settings), list[float]()
    for name in cases:
        voxels = case_voxels(store, name)
        mask, label = _second_label(store, name, voxels), voxels.label
        prediction = Volume(mask[None].astype(np.float32), label.spacing, None, label.source)
        found = structures_of(prediction, label, settings)
        tally.add(count_regions(found, label, settings))
        scores.append(dice(found.masks[0], found.labels[0]))
    headline = tally.headline
    overlap = {headline: mean_of(scores)}
    return Measured(
        split="test",
        cases=cases,
        problems=[],
        dimensions=store.dataset.dimensions,
        structures=list(task.names),
        headline=headline,
        likelihood="probabilities",
        default_correction=NONE,
        pooled={NONE: _without_likelihood(tally.pooled())},
        means={NONE: _without_likelihood(tally.means())},
        dice={"plain": overlap, "own": overlap},
        by_case={NONE: {"all": {"dice": scores}}},
        lesions={},
        detection={},
        logits={},
        volumes={},
        posterior={},
        sketches={NONE: {str(region): sketch for region, sketch in tally.sketches.items()}},
    )


def _wanted(recipe: Recipe) -> str:
    data, regions = recipe.data, recipe.evaluation.regions
    about = {"dataset": data.dataset, "settings": data.settings, "cases": data.cases}
    return digest({"data": about, "regions": regions, "of": SECOND_RATER})


def _second_label(store: Store, name: str, voxels: CaseVoxels) -> NDArray[np.bool_]:
    """Return where the second rater sees the structure, on the voxels that are measured."""
    case = store.case(name)
    if voxels.grid is None:
        prepared: NDArray[np.bool_] = case.read_extra(_EXTRA) > 0
        return prepared
    file = case.source_files[_ROLE]
    mask = read_mask(file).array
    if mask.shape != voxels.label.array.shape:
        raise CaseError(
            f"{shown(file)}: has shape {mask.shape}, the first rater's has "
            f"{voxels.label.array.shape}; prepare the store anew"
        )
    return mask


def _without_likelihood(found: ByRegion) -> ByRegion:
    """Return the scores with an infinite NLL: a rater who is wrong was sure of it."""
    return {
        region: {name: _unlikely(scores) for name, scores in structures.items()}
        for region, structures in found.items()
    }


def _unlikely(scores: Scores) -> Scores:
    return {**scores, "nll": math.inf if scores["brier"] > 0 else 0.0}
