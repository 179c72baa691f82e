"""``gradsurge reproduce``: the tables of a recipe, from data to pages."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from gradsurge.cli.output import check_directory
from gradsurge.cli.reproduce_work import reproduce_as_asked

_WHAT, _MACHINE = "What", "Machine"


def _of(panel: str, metavar: str, text: str, **limits: Any) -> Any:
    return typer.Option(metavar=metavar, help=text, rich_help_panel=panel, **limits)


def reproduce(
    recipe: Annotated[
        str,
        typer.Argument(
            metavar="RECIPE",
            help="fives, inbreast, brats-mets, kits, kits-primus, chase, hippocampus, "
            "hippocampus-binary, isles, phantoms; or a TOML file.",
        ),
    ],
    table: Annotated[
        list[str] | None,
        _of(
            _WHAT,
            "NAME",
            "1 to 8, corrections, schedule, statistics, shift, volume; repeatable. All that the "
            "recipe has if left out.",
        ),
    ] = None,
    losses: Annotated[
        str | None, _of(_WHAT, "A,B", "Only rows of these losses: dice,dice-surgery.")
    ] = None,
    scale: Annotated[
        Literal["smoke", "small", "paper"],
        _of(_WHAT, "NAME", "smoke (that it runs), small (a first look) or paper."),
    ] = "paper",
    store: Annotated[
        Path | None, _of(_WHAT, "STORE", "Folder of gradsurge prepare, made as the recipe says.")
    ] = None,
    data: Annotated[
        Path | None, _of(_WHAT, "RAW", "Raw data; prepared first. Phantoms need none.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="For runs, records and tables; runs/RECIPE-SCALE if left out.",
            callback=lambda path: None if path is None else check_directory(path),
            rich_help_panel=_WHAT,
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            metavar="",
            help="Print the runs, their number and about how long they take, and the published "
            "numbers; do nothing.",
            rich_help_panel=_WHAT,
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", metavar="", help="Print JSON.")] = False,
    storage: Annotated[
        str | None,
        _of(
            _MACHINE,
            "URL",
            "postgresql://user@host/database that all machines reach; a journal in FOLDER if left "
            "out.",
        ),
    ] = None,
    device: Annotated[str, _of(_MACHINE, "NAME", "auto, cpu, cuda, cuda:1, mps.")] = "auto",
    workers: Annotated[
        int | None, _of(_MACHINE, "N", "Processes that make patches.", min=0)
    ] = None,
    threads: Annotated[int | None, _of(_MACHINE, "N", "Of the computation.", min=1)] = None,
) -> None:
    """Train what the tables of a recipe need, measure it, and write the tables.

    gradsurge reproduce phantoms --losses dice,dice-surgery --scale small

    gradsurge reproduce fives --data FIVES --table 1 --dry-run

    Stopped or killed, the same command goes on. The same command on another machine that sees
    FOLDER takes a part of the runs. Tables are written beside the published numbers, as Markdown,
    LaTeX, CSV and HTML.
    """
    reproduce_as_asked(locals())
