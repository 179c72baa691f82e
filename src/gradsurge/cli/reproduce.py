"""``gradsurge reproduce``: the tables of a recipe, from data to pages."""

from typing import Annotated

import typer

from gradsurge.cli.completion import LOSSES, OUR_TABLES, RECIPES, TABLES, one_of, some_of
from gradsurge.cli.reproduce_work import reproduce_as_asked
from gradsurge.cli.worker_options import (
    WHAT,
    AsJson,
    Device,
    RawData,
    Scale,
    Storage,
    StoreFolder,
    StudyFolder,
    Threads,
    Workers,
    option,
)


def reproduce(
    recipe: Annotated[
        str,
        typer.Argument(
            metavar="RECIPE",
            help=f"{', '.join(RECIPES)}; or a TOML file.",
            autocompletion=one_of(*RECIPES),
        ),
    ],
    table: Annotated[
        list[str] | None,
        option(
            WHAT,
            "NAME",
            f"1 to 8, {', '.join(OUR_TABLES)}; repeatable. All that the recipe has if left out.",
            autocompletion=one_of(*TABLES),
        ),
    ] = None,
    losses: Annotated[
        str | None,
        option(
            WHAT,
            "A,B",
            "Only train and print rows of these losses: dice,dice-surgery. "
            "Rows that are there already stay in the files.",
            autocompletion=some_of(*LOSSES),
        ),
    ] = None,
    scale: Annotated[
        Scale,
        option(WHAT, "NAME", "smoke (that it runs), small (a first look) or paper."),
    ] = "paper",
    store: StoreFolder = None,
    data: RawData = None,
    out: StudyFolder = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            metavar="",
            help="Print the runs, their number and about how long they take, and the published "
            "numbers; do nothing.",
            rich_help_panel=WHAT,
        ),
    ] = False,
    as_json: AsJson = False,
    storage: Storage = None,
    device: Device = "auto",
    workers: Workers = None,
    threads: Threads = None,
) -> None:
    """Train what the tables of a recipe need, measure it, and write the tables.

    gradsurge reproduce phantoms --losses dice,dice-surgery --scale small

    gradsurge reproduce fives --data FIVES --table 1 --dry-run

    Stopped or killed, the same command goes on. The same command on another machine that sees
    FOLDER takes a part of the runs. Tables are written beside the published numbers, as Markdown,
    LaTeX, CSV and HTML.
    """
    reproduce_as_asked(locals())
