"""What the commands that work beside others share: their options, how they begin and end."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import typer

from gradsurge.cli.output import check_directory, interrupted, usage
from gradsurge.cli.typed_secrets import command_again
from gradsurge.experiments.threads import limit_threads

if TYPE_CHECKING:
    from gradsurge.data.store import Store
    from gradsurge.experiments.recipes import Recipe

WHAT, SHARED, MACHINE = "What", "Workers together", "Machine"


def option(panel: str, metavar: str, text: str, **limits: Any) -> Any:
    """Return an option under a heading of the help."""
    return typer.Option(metavar=metavar, help=text, rich_help_panel=panel, **limits)


Scale = Literal["smoke", "small", "paper"]
AsJson = Annotated[bool, typer.Option("--json", metavar="", help="Print JSON.")]
StoreFolder = Annotated[
    Path | None, option(WHAT, "STORE", "Folder of gradsurge prepare, made as the recipe says.")
]
RawData = Annotated[
    Path | None, option(WHAT, "RAW", "Raw data; prepared first. Phantoms need none.")
]
StudyFolder = Annotated[
    Path | None,
    option(
        WHAT,
        "FOLDER",
        "For runs, records and tables, the same one for all workers; runs/RECIPE-SCALE if left "
        "out.",
        callback=lambda path: None if path is None else check_directory(path),
    ),
]
Storage = Annotated[
    str | None,
    option(
        SHARED,
        "URL",
        "postgresql://user@host/database, the password best in ~/.pgpass; a journal in FOLDER if "
        "left out.",
    ),
]
Device = Annotated[str, option(MACHINE, "NAME", "auto, cpu, cuda, cuda:1, mps.")]
Workers = Annotated[int | None, option(MACHINE, "N", "Processes that make patches.", min=0)]
Threads = Annotated[
    int | None, option(MACHINE, "N", "Of the computation.", min=1, callback=limit_threads)
]


def begin(typed: Mapping[str, Any], command: str) -> int:
    """Set this process up; return how many processes make patches.

    Args:
        typed: "workers".
        command: its name.

    Raises:
        ValueError: torchrun has started several processes as one.
    """
    from joblib import cpu_count

    from gradsurge.cli.train_work import default_workers

    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise ValueError(
            f"{command}: a run is trained by one process; start the command once a device instead "
            f"of torchrun, and every one takes other runs"
        )
    # Tasks of srun are workers of their own here, not the ranks of one training.
    os.environ.pop("SLURM_NTASKS", None)
    workers: int | None = typed["workers"]
    return default_workers(os.environ, cpu_count()) if workers is None else workers


def asked_recipe(typed: Mapping[str, Any]) -> "Recipe":
    """Return the recipe that was typed, and see that it is told where its cases are but once.

    Raises:
        ValueError: the recipe is mistaken.
    """
    from gradsurge.experiments.recipes import find_recipe, read_recipe

    if typed["store"] is not None and typed["data"] is not None:
        raise typer.BadParameter("--store and --data: give one of the two")
    with usage():
        file = find_recipe(typed["recipe"])
    return read_recipe(str(file), typed["scale"])


def folder_of(typed: Mapping[str, Any], recipe: "Recipe") -> Path:
    """Return the folder of the study."""
    return typed["out"] or Path("runs") / f"{recipe.name}-{recipe.scale}"


def jobs_of(typed: Mapping[str, Any]) -> int:
    """Return how many processes prepare: one a core; phantoms are made sooner than processes."""
    return 1 if typed["data"] is None else 0


def tell_phantoms(recipe: "Recipe", store: "Store") -> None:
    """Say so if phantoms stand in for the recipe's data."""
    from gradsurge.experiments.study.store_check import stands_in

    if stands_in(store, recipe):
        typer.echo(
            f"gradsurge: note: {store.path} is of phantoms ({store.dataset.name}) in place of "
            f"{recipe.data.dataset}: numbers show that the recipe runs, nothing more",
            err=True,
        )


def stop(what: str = "stopped, everything is saved") -> NoReturn:
    """Say how to go on after an interruption, and exit with 1."""
    interrupted(what, command_again(sys.argv))
