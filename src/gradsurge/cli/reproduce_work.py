"""What ``gradsurge reproduce`` does with what was typed: plan, run, tell."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from gradsurge.cli.output import fail, progress_bar, usage
from gradsurge.cli.worker_options import (
    asked_recipe,
    begin,
    folder_of,
    jobs_of,
    stop,
    tell_phantoms,
)

if TYPE_CHECKING:
    from gradsurge.experiments.recipes import Recipe
    from gradsurge.experiments.study import Overview, Reproduction


def reproduce_as_asked(typed: Mapping[str, Any]) -> None:
    """Run the command; mistakes are one line: exit code 2 for a word that names nothing, else 1."""
    from gradsurge.experiments.stopping import sigterm_interrupts

    try:
        with sigterm_interrupts():
            _plan_and_run(typed)
    except KeyboardInterrupt:  # nothing was under way that tells what is saved, or a second Ctrl-C
        stop("stopped")


def _plan_and_run(typed: Mapping[str, Any]) -> None:
    with progress_bar("looking", total=1):
        from gradsurge.experiments.preparation import DiskFull, NothingToPrepare
        from gradsurge.experiments.study import NoData, StudyStopped
        from gradsurge.experiments.workers import WorkerError
        from gradsurge.training import TrainingError

        try:
            recipe, asked = _recipes(typed)
            out = folder_of(typed, recipe)
            overview = _look(recipe, asked, out)
        except ValueError as error:
            fail(error)
    from gradsurge.cli.reproduce_output import print_overview, print_published

    if typed["dry_run"]:
        print_overview(recipe, asked, overview, out, as_json=typed["as_json"])
        if not typed["as_json"]:
            print_published(asked)
        return
    try:
        found = _run(typed, recipe, asked, out, overview)
    except NoData as error:
        if not typed["as_json"]:
            print_published(asked)
        _write(recipe, asked, out)
        fail(error)
    except StudyStopped:
        _write(recipe, asked, out)
        stop()
    except (ValueError, TrainingError, DiskFull, NothingToPrepare, WorkerError) as error:
        fail(error)
    _tell(typed, found, _files(recipe, asked, out, found))


def _recipes(typed: Mapping[str, Any]) -> tuple["Recipe", "Recipe"]:
    """Return the whole recipe, and the one with the tables and rows that are asked for."""
    from gradsurge.experiments.study import with_rows

    recipe = asked_recipe(typed)
    losses = [name.strip() for name in (typed["losses"] or "").split(",") if name.strip()]
    with usage():
        if typed["losses"] is not None and not losses:
            raise ValueError(f"--losses: expected names, got {typed['losses']!r}")
        return recipe, with_rows(recipe, typed["table"] or list(recipe.tables), losses)


def _look(recipe: "Recipe", asked: "Recipe", out: Path) -> "Overview":
    from gradsurge.experiments.study import Protocol, overview_of
    from gradsurge.experiments.study.study_folder import check_study

    check_study(out, recipe)
    return overview_of(recipe, Protocol(asked, list(asked.tables)), out)


def _run(
    typed: Mapping[str, Any], recipe: "Recipe", asked: "Recipe", out: Path, overview: "Overview"
) -> "Reproduction":
    from gradsurge.cli.reproduce_progress import StudyLines
    from gradsurge.data.store.dataset_file import NAME as DATASET
    from gradsurge.experiments.search import journal_of
    from gradsurge.experiments.study import StudySite, enter_study, reproduce, study_store
    from gradsurge.experiments.study.study_folder import STORE

    workers = begin(typed, "reproduce")
    lines: StudyLines = StudyLines(overview.missing)
    ready = typed["store"] is not None or (out / STORE / DATASET).is_file()
    if overview.complete and not ready:  # nothing is prepared only to find that nothing is missing
        return _from_records(recipe, asked, out)
    store = study_store(recipe, out, typed["store"], typed["data"], lines, jobs_of(typed))
    tell_phantoms(recipe, store)
    enter_study(out, recipe, store)
    site = StudySite(
        recipe,
        out,
        store,
        typed["storage"] or journal_of(out),
        device=typed["device"],
        workers=workers,
        watcher=lines,
    )
    return reproduce(site, asked)


def _from_records(recipe: "Recipe", asked: "Recipe", out: Path) -> "Reproduction":
    from gradsurge.experiments.study import tables_from_records

    return tables_from_records(recipe, asked, out)


def _write(recipe: "Recipe", asked: "Recipe", out: Path) -> None:
    """Write the tables of what is there; nothing if there is no record."""
    found = _from_records(recipe, asked, out)
    if found.records:
        files = _files(recipe, asked, out, found)
        typer.echo(f"Tables of what is there: {files[0].parent}", err=True)


def _files(recipe: "Recipe", asked: "Recipe", out: Path, found: "Reproduction") -> list[Path]:
    """Write the tables, with the rows that were there before; return the files."""
    from gradsurge.cli.reproduce_output import write_all
    from gradsurge.experiments.study import for_files

    return write_all(recipe, for_files(recipe, asked, out, found), out)


def _tell(typed: Mapping[str, Any], found: "Reproduction", files: list[Path]) -> None:
    from gradsurge.cli.reproduce_output import print_tables

    print_tables(found, files, as_json=typed["as_json"])
    for name, reason in found.failures:
        typer.echo(f"gradsurge: problem: {' '.join(f'{name}: {reason}'.split())}", err=True)
    raise typer.Exit(1 if found.failures else 0)
