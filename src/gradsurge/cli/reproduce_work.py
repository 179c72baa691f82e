"""What ``gradsurge reproduce`` does with what was typed: plan, run, tell."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from gradsurge.cli.output import progress_bar
from gradsurge.cli.search_words import command_again

if TYPE_CHECKING:
    from gradsurge.experiments.recipes import Recipe
    from gradsurge.experiments.study import Overview, Reproduction


def reproduce_as_asked(typed: Mapping[str, Any]) -> None:
    """Run the command; a mistake is one line and exit code 1, an interruption or a failure too."""
    from gradsurge.experiments.stopping import sigterm_interrupts

    try:
        with sigterm_interrupts():
            _plan_and_run(typed)
    except KeyboardInterrupt:
        _stop(typed)


def _plan_and_run(typed: Mapping[str, Any]) -> None:
    with progress_bar("looking", total=1):
        from gradsurge.experiments.preparation import DiskFull, NothingToPrepare
        from gradsurge.experiments.study import NoData, StudyStopped
        from gradsurge.training import TrainingError

        try:
            recipe, asked = _recipes(typed)
            out = typed["out"] or Path("runs") / f"{recipe.name}-{recipe.scale}"
            overview = _look(recipe, asked, out)
        except ValueError as error:
            _fail(error)
    from gradsurge.cli.reproduce_output import print_overview, print_published

    if typed["dry_run"]:
        print_overview(recipe, asked, overview, out, as_json=typed["as_json"])
        if not typed["as_json"]:
            print_published(asked)
        return
    try:
        found = _run(typed, recipe, asked, out, overview)
    except NoData as error:
        print_published(asked)
        _write(recipe, asked, out)
        _fail(error)
    except (StudyStopped, KeyboardInterrupt):
        _write(recipe, asked, out)
        _stop(typed)
    except (ValueError, TrainingError, DiskFull, NothingToPrepare) as error:
        _fail(error)
    _tell(typed, recipe, out, found)


def _recipes(typed: Mapping[str, Any]) -> tuple["Recipe", "Recipe"]:
    """Return the whole recipe, and the one with the tables and rows that are asked for."""
    from gradsurge.experiments.recipes import read_recipe
    from gradsurge.experiments.study import with_rows

    if typed["store"] is not None and typed["data"] is not None:
        raise ValueError("--store and --data: give one of the two")
    recipe = read_recipe(typed["recipe"], typed["scale"])
    losses = [name.strip() for name in (typed["losses"] or "").split(",") if name.strip()]
    return recipe, with_rows(recipe, typed["table"] or list(recipe.tables), losses)


def _look(recipe: "Recipe", asked: "Recipe", out: Path) -> "Overview":
    from gradsurge.experiments.study import Protocol, overview_of
    from gradsurge.experiments.study.study_folder import check_study

    check_study(out, recipe)
    return overview_of(recipe, Protocol(asked, list(asked.tables)), out)


def _run(
    typed: Mapping[str, Any], recipe: "Recipe", asked: "Recipe", out: Path, overview: "Overview"
) -> "Reproduction":
    from joblib import cpu_count

    from gradsurge.cli.reproduce_progress import StudyLines
    from gradsurge.cli.train_work import default_workers
    from gradsurge.experiments.search import journal_of
    from gradsurge.experiments.study import StudySite, enter_study, reproduce, study_store

    if typed["threads"] is not None:
        import torch

        torch.set_num_threads(typed["threads"])
    lines: StudyLines = StudyLines(overview.missing)
    if overview.complete:
        return _from_records(recipe, asked, out)
    store = study_store(recipe, out, typed["store"], typed["data"], lines)
    enter_study(out, recipe)
    workers = typed["workers"]
    site = StudySite(
        recipe,
        out,
        store,
        typed["storage"] or journal_of(out),
        device=typed["device"],
        workers=default_workers(os.environ, cpu_count()) if workers is None else workers,
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
        from gradsurge.cli.reproduce_output import write_all

        files = write_all(recipe, found, out)
        typer.echo(f"Tables of what is there: {files[0].parent}", err=True)


def _tell(typed: Mapping[str, Any], recipe: "Recipe", out: Path, found: "Reproduction") -> None:
    from gradsurge.cli.reproduce_output import print_tables, write_all

    files = write_all(recipe, found, out)
    print_tables(found, files, as_json=typed["as_json"])
    for name, reason in found.failures:
        typer.echo(f"gradsurge: problem: {' '.join(f'{name}: {reason}'.split())}", err=True)
    raise typer.Exit(1 if found.failures else 0)


def _stop(typed: Mapping[str, Any]) -> NoReturn:
    from gradsurge.experiments.search import shown_storage

    storage = typed["storage"]
    shown = {} if storage is None else {storage: shown_storage(storage)}
    again = command_again(sys.argv, shown)
    typer.echo(f"gradsurge: stopped, everything is saved; go on with: {again}", err=True)
    raise typer.Exit(1)


def _fail(error: Exception) -> NoReturn:
    typer.echo(f"gradsurge: error: {' '.join(str(error).split())}", err=True)
    raise typer.Exit(1) from error
