"""Runs applied to images: case by case, what is at fault left out and told."""

import errno
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from gradsurge.data.case_error import CaseError, shown
from gradsurge.data.store import only_writer
from gradsurge.experiments.prediction.device import find_device
from gradsurge.experiments.prediction.ensemble import check_ensemble, ensemble_thresholds
from gradsurge.experiments.prediction.input_cases import InputCase, find_cases
from gradsurge.experiments.prediction.listed_files import LABELS, MASKS
from gradsurge.experiments.prediction.mask_rule import mask_rule
from gradsurge.experiments.prediction.one_case import CaseWork
from gradsurge.experiments.prediction.partial_file import remove_partial
from gradsurge.experiments.prediction.predictor import Predictor, predictor_of
from gradsurge.experiments.prediction.record import Record, describe
from gradsurge.experiments.prediction.result_files import (
    check_room,
    earlier_files,
    possible_files,
    remove_files,
)
from gradsurge.experiments.prediction.settings import PredictSettings
from gradsurge.experiments.preparation import DiskFull
from gradsurge.experiments.prepare_case import DISK_FULL
from gradsurge.experiments.runs.trained_run import open_run

_FATAL = (*DISK_FULL, errno.EROFS)


@dataclass(frozen=True)
class PredictCalls:
    """Who is told of the progress: the number of cases, the case that begins, its share done."""

    on_tasks: Callable[[int], object] = lambda _: None
    on_case: Callable[[str], object] = lambda _: None
    on_share: Callable[[float], object] = lambda _: None


def predict(
    runs: Sequence[Path],
    place: Path,
    out: Path,
    settings: PredictSettings | None = None,
    *,
    split: str | None = None,
    overwrite: bool = False,
    calls: PredictCalls | None = None,
) -> Record:
    """Predict all cases with one run, or with several as an ensemble.

    Writes ``<case>.nii.gz`` (``.tif`` of pictures) with the probabilities, the mask of the same
    name in ``masks/``, and ``predictions.json``.

    Args:
        runs: folders of finished runs.
        place: a file or folder of images, or a store.
        out: folder for the results.
        settings: how; as they are by default if left out.
        split: of a store; None for all of its cases.
        overwrite: whether results that are there are replaced. Then all that the folder's
            predictions.json lists is removed first, so that no older result stays among new ones.
        calls: who is told of the progress.

    Returns:
        What was done, as it stands in predictions.json.

    Raises:
        ValueError: runs or input cannot be used, or results are there.
        DiskFull: there is no room for the next case.
        OSError: the folder cannot be written to.
    """
    settings = settings or PredictSettings()
    device = find_device(settings.device)
    predictors = [predictor_of(open_run(run), settings.correction, device) for run in runs]
    return predict_with(
        predictors, place, out, settings, device, split=split, overwrite=overwrite, calls=calls
    )


def predict_with(
    predictors: Sequence[Predictor],
    place: Path,
    out: Path,
    settings: PredictSettings,
    device: torch.device,
    *,
    split: str | None = None,
    overwrite: bool = False,
    calls: PredictCalls | None = None,
) -> Record:
    """Do the same with runs that are opened, their networks on ``device``."""
    calls = calls or PredictCalls()
    check_ensemble(predictors)
    first = predictors[0]
    rule = mask_rule(first.task, first.dataset, ensemble_thresholds(predictors))
    found = find_cases(place, first.dataset, split)
    cases = [case for case in found.cases if _is_file_name(case.name)]
    earlier = earlier_files(out)
    check_room(out, place, cases, overwrite=overwrite, earlier=earlier)
    record = Record(
        describe(predictors, rule, settings, device, place, split),
        failures=[*found.problems, *_bad_names(found.cases)],
    )
    work = CaseWork(predictors, rule, settings, device, out)
    out.mkdir(parents=True, exist_ok=True)
    try:
        with only_writer(out, "predict", leave_lock=False):
            remove_files(earlier)
            _predict_all(work, cases, record, calls)
    except OSError as error:
        if error.errno not in DISK_FULL:
            raise
        raise DiskFull(
            f"{shown(out)}: the disk is full, {len(record.cases)} of {len(cases)} cases are "
            f"written; make room and run the same command with --overwrite (--bits 16 takes half)"
        ) from error
    return record


def _predict_all(
    work: CaseWork, cases: Sequence[InputCase], record: Record, calls: PredictCalls
) -> None:
    for folder in (work.out, work.out / MASKS, work.out / LABELS):
        remove_partial(folder)
    record.write(work.out)
    calls.on_tasks(len(cases))
    for case in cases:
        calls.on_case(case.name)
        failed = len(record.failures)
        _predict_one(work, case, record, calls)
        if len(record.failures) > failed:  # an older result would pass for one of this run
            remove_files(possible_files(case, work.out))
        record.write(work.out)
    record.complete = True
    record.write(work.out)


def _predict_one(work: CaseWork, case: InputCase, record: Record, calls: PredictCalls) -> None:
    done = 0.0

    def on_share(share: float) -> None:
        nonlocal done
        done += share
        calls.on_share(share)

    try:
        record.cases.append(work.predict(case, on_share))
    except CaseError as error:
        record.failures.append((case.name, str(error)))
    except OSError as error:
        if error.errno in _FATAL:
            raise
        file = "" if error.filename is None else f"{shown(Path(error.filename))}: "
        record.failures.append((case.name, f"{file}{error.strerror or error}"))
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "allocate" not in str(error):  # torch's own
            raise
        record.failures.append((case.name, "needs more memory than there is; crop the image"))
    calls.on_share(1.0 - done)


def _bad_names(cases: Sequence[InputCase]) -> list[tuple[str, str]]:
    return [
        (case.name, "its name cannot be that of a file; rename it")
        for case in cases
        if not _is_file_name(case.name)
    ]


def _is_file_name(name: str) -> bool:
    return bool(name) and name not in (".", "..") and not set(name) & set("/\\\0")
