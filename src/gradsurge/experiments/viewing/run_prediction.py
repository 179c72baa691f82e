"""One case predicted with a run, for a look at it."""

from collections.abc import Callable
from pathlib import Path

import torch

from gradsurge.data.case_error import shown
from gradsurge.experiments.prediction.input_cases import InputCase, InputCases, find_cases
from gradsurge.experiments.prediction.listed_files import LABELS, MASKS
from gradsurge.experiments.prediction.mask_rule import mask_rule
from gradsurge.experiments.prediction.one_case import CaseWork
from gradsurge.experiments.prediction.predictor import predictor_of
from gradsurge.experiments.prediction.record import Record, describe
from gradsurge.experiments.prediction.settings import PredictSettings
from gradsurge.experiments.runs.trained_run import TrainedRun, open_run
from gradsurge.experiments.viewing.prediction_folder import few


def is_run(folder: Path) -> bool:
    """Tell whether a folder looks like one of gradsurge train."""
    return (folder / "config.json").is_file() or (folder / "best.pt").is_file()


def predict_case(
    run: Path,
    out: Path,
    case: str | None = None,
    scan: Path | None = None,
    on_share: Callable[[float], object] = lambda _: None,
) -> str:
    """Predict one case as ``gradsurge predict`` would, into a folder like one of its own.

    Args:
        run: folder of a finished run.
        out: an empty folder.
        case: of the run's store, or of ``scan``; None for the first one, of the store the first
            of its test cases.
        scan: file or folder to predict instead of a case of the store.
        on_share: called with the share of the work done since the last call.

    Returns:
        The name of the case.

    Raises:
        ValueError: the run cannot be used, or there is no such case.
        CaseError: the case cannot be predicted.
    """
    trained = open_run(run)
    place = Path(trained.config.store) if scan is None else scan
    chosen = _chosen(_cases_of(trained, place, scan is None), place, case)
    settings = PredictSettings()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    predictor = predictor_of(trained, settings.correction, device)
    rule = mask_rule(predictor.task, predictor.dataset, predictor.thresholds)
    record = Record(describe([predictor], rule, settings, device, place.resolve(), None))
    for folder in (MASKS, LABELS):
        (out / folder).mkdir(parents=True, exist_ok=True)
    record.cases.append(
        CaseWork([predictor], rule, settings, device, out).predict(chosen, on_share)
    )
    record.complete = True
    record.write(out)
    return chosen.name


def _cases_of(trained: TrainedRun, place: Path, of_store: bool) -> InputCases:
    if of_store and not place.exists():
        raise ValueError(
            f"{shown(trained.folder)}: its store {shown(place)} is not here; give the image with "
            f"--scan, or predict first and view the folder of predictions"
        )
    dataset = trained.config.dataset
    if of_store:
        tested = find_cases(place, dataset)
        first = set(_test_cases(place))
        tested.cases.sort(key=lambda found: found.name not in first)
        return tested
    return find_cases(place, dataset)


def _test_cases(place: Path) -> list[str]:
    from gradsurge.data.store import Store

    return Store.open(place).splits.get("test", [])


def _chosen(found: InputCases, place: Path, case: str | None) -> InputCase:
    if not found.cases:
        problem = f" ({found.problems[0][1]})" if found.problems else ""
        raise ValueError(f"{shown(place)}: holds no case that can be predicted{problem}")
    if case is None:
        return found.cases[0]
    for one in found.cases:
        if one.name == case:
            return one
    names = [one.name for one in found.cases]
    raise ValueError(f"--case: {shown(place)} has no {case!r}; it has {few(names)}")
