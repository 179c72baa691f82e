"""A whole demo: cases, trainings, predictions, measuring."""

import time
from pathlib import Path

from gradsurge.data.store import Store, replace_json
from gradsurge.experiments.demo.cases import HeldOut, prepare_store, write_held_out
from gradsurge.experiments.demo.checks import check_demo, check_splits
from gradsurge.experiments.demo.data_digest import data_digest
from gradsurge.experiments.demo.folder import (
    EVALUATION,
    RESULTS,
    check_folder,
    enter_folder,
    keep_data,
    only_demo,
)
from gradsurge.experiments.demo.measuring import measure_all
from gradsurge.experiments.demo.plan import DemoPlan
from gradsurge.experiments.demo.predictions import predict_all
from gradsurge.experiments.demo.result import DemoResult
from gradsurge.experiments.demo.results_file import to_json, training_facts
from gradsurge.experiments.demo.score_rows import score_rows
from gradsurge.experiments.demo.side_by_side import SideBySide, side_by_side
from gradsurge.experiments.demo.trainings import train_all
from gradsurge.experiments.demo.watcher import Unwatched, Watcher
from gradsurge.experiments.evaluation import files
from gradsurge.experiments.evaluation.result import Evaluation
from gradsurge.experiments.evaluation.result_folder import new_results


def run_demo(
    plan: DemoPlan,
    out: Path,
    *,
    overwrite: bool = False,
    watcher: Watcher | None = None,
    device: str = "auto",
) -> DemoResult:
    """Prepare, train, predict and measure.

    The same demo in the same folder goes on where it was: prepared cases and trained models are
    kept, predictions and results are made anew.

    Args:
        plan: what is done.
        out: folder for all of it.
        overwrite: whether an older demo in the folder is removed first.
        watcher: told of the progress.
        device: "auto", "cpu", "cuda", ...

    Raises:
        ValueError: the folder holds another demo or something else, or the data cannot be used.
        DemoStopped: a signal came while a model was trained.
        TrainingError: the data, the validation or the disk failed.
    """
    began, watcher = time.monotonic(), watcher or Unwatched()
    check_demo(plan, out, device)
    check_folder(out, plan, overwrite=overwrite)  # before so much as a lock is written there
    with only_demo(out):
        enter_folder(out, plan, overwrite=overwrite)
        store, problems = prepare_store(plan, out, watcher)
        check_splits(store, plan.raw)
        keep_data(out, data_digest(store))
        result = _train_and_measure(plan, store, out, watcher, device)
        result.problems = problems + result.problems
        result.seconds = time.monotonic() - began
        replace_json(out / RESULTS, to_json(result))
    return result


def _train_and_measure(
    plan: DemoPlan, store: Store, out: Path, watcher: Watcher, device: str
) -> DemoResult:
    held_out = write_held_out(store, out)
    runs = train_all(plan, store, out, watcher, device=device)
    first = next(iter(runs.values())).config
    rows, unpredicted = predict_all(held_out, out, watcher, device)
    with new_results(out / EVALUATION) as folder:
        found = measure_all(rows, held_out, first.task, out, folder / "sketches", watcher)
        files.write_metrics(found, folder / "metrics.json")
        files.write_cases(found, folder / "cases.csv")
    outcome = runs["dice-surgery"].outcome
    return DemoResult(
        plan=plan,
        out=out,
        rows=score_rows(rows, found, held_out, first.task, out),
        split=held_out.split,
        counts={name: len(cases) for name, cases in store.splits.items()},
        training=training_facts(first),
        minutes={loss: run.minutes for loss, run in runs.items()},
        correction="none" if outcome is None else outcome.correction,
        evaluation=found,
        looks=_looks(found, held_out),
        problems=unpredicted + [f"{p.case}: {p.message}" for p in found.problems],
    )


def _looks(found: Evaluation, held_out: HeldOut) -> list[SideBySide]:
    """Return slices of cases that every model was scored on."""
    models = found.models.values()
    shared = [n for n in held_out.names if all(n in model.cases for model in models)]
    folders = {model.name: model.folder for model in models}
    return side_by_side(folders, held_out.labels, held_out.images, shared, found.settings)
