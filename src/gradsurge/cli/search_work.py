"""What ``gradsurge search`` does with what was typed: join the study, work, tell."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

from gradsurge.cli.output import fail, progress_bar, usage
from gradsurge.cli.search_output import print_outcome
from gradsurge.cli.worker_options import (
    asked_recipe,
    begin,
    folder_of,
    jobs_of,
    stop,
    tell_phantoms,
)

if TYPE_CHECKING:
    from optuna import Study

    from gradsurge.experiments.search import StudyStatus, TrialRuns, WorkerEnd


def search_as_asked(typed: Mapping[str, Any]) -> None:
    """Run the command; mistakes are one line: exit code 2 for a word that names nothing, else 1."""
    from gradsurge.experiments.preparation import DiskFull
    from gradsurge.experiments.stopping import sigterm_interrupts
    from gradsurge.experiments.workers import WorkerError

    try:
        with sigterm_interrupts():
            end, status, runs = _join_and_work(typed)
    except (ValueError, DiskFull, WorkerError) as error:
        fail(error)
    except KeyboardInterrupt:  # before the first trial, after the last, or a second Ctrl-C
        stop("stopped")
    if typed["as_json"]:
        told = {"reason": end.reason, "trained": list(end.trained), **status.to_json()}
        typer.echo(json.dumps(told, indent=2))
    else:
        print_outcome(status, runs.recipe.search.keep, runs.folder, typed["storage"])
    if end.reason == "interrupted":
        stop()
    raise typer.Exit(1 if status.counts["failed"] else 0)


def _join_and_work(typed: Mapping[str, Any]) -> tuple["WorkerEnd", "StudyStatus", "TrialRuns"]:
    with progress_bar("looking", total=1):
        from gradsurge.experiments.search import (
            StudyStatus,
            WorkerSettings,
            read_trials,
            retry_failed,
            run_worker,
        )

        settings = WorkerSettings(
            grace=typed["grace"], tries=typed["tries"], stay=not typed["leave"]
        )
        study, runs = _prepare(typed)
        if typed["retry"]:
            retry_failed(study)
    from gradsurge.cli.search_progress import SearchLines

    end = run_worker(
        study,
        runs,
        folder=runs.folder,
        held=runs.held,
        pulse=runs.pulse,
        settings=settings,
        watcher=SearchLines(study.study_name, lambda: read_trials(study)),
    )
    return end, StudyStatus(study.study_name, tuple(read_trials(study))), runs


def _prepare(typed: Mapping[str, Any]) -> tuple["Study", "TrialRuns"]:
    from gradsurge.cli.reproduce_progress import StudyLines
    from gradsurge.experiments.search import TrialRuns, join_study, journal_of, points_of
    from gradsurge.experiments.study import check_entry, enter_study, study_store
    from gradsurge.experiments.study.study_folder import check_study
    from gradsurge.report.figures import early_looks
    from gradsurge.training.observers import TensorBoard, make_progress

    workers = begin(typed, "search")
    recipe = asked_recipe(typed)
    with usage():
        variant = recipe.variant(typed["loss"])
    out = folder_of(typed, recipe)
    # What cannot be is refused before anything is prepared.
    check_study(out, recipe)
    first = points_of(recipe, variant, typed["trials"])[0]
    store = study_store(recipe, out, typed["store"], typed["data"], StudyLines(0), jobs_of(typed))
    check_entry(out, recipe, store)
    runs = TrialRuns(
        recipe,
        variant,
        store,
        out,
        share=recipe.search.share,
        device=typed["device"],
        workers=workers,
        observers=lambda: [TensorBoard(), make_progress()],
        on_look=lambda look, folder: early_looks.write(look, folder / "looks"),
        on_stage=lambda text: typer.echo(text, err=True),
    )
    # What no trial could be trained with is refused before a study is made of it.
    runs.plan(0, first)
    tell_phantoms(recipe, store)
    storage = typed["storage"] or journal_of(out)
    joined = join_study(recipe, variant, out, storage, typed["trials"])
    enter_study(out, recipe, store)  # not before: what is refused leaves no mark in the folder
    return joined, runs
