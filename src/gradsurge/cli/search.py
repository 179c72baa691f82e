"""``gradsurge search``: random search with any number of workers, and how it stands."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from gradsurge.cli.completion import LOSSES, RECIPES, one_of
from gradsurge.cli.search_status import show_status
from gradsurge.cli.search_work import search_as_asked
from gradsurge.cli.typed_secrets import without_passwords
from gradsurge.cli.worker_options import (
    SHARED,
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

_RUN = "run"


class _PathOfGroup(typer.Context):
    """The context of a command whose name nobody types."""

    @property
    def command_path(self) -> str:
        return self.parent.command_path if self.parent is not None else super().command_path


class _Unnamed(TyperCommand):
    """``gradsurge search RECIPE``; its help shows ``gradsurge search status`` beside it."""

    context_class = _PathOfGroup

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        needed = "RECIPE --loss NAME [OPTIONS]"
        formatter.write_usage(ctx.command_path, needed)
        formatter.write_usage(ctx.command_path, "status [FOLDER] [OPTIONS]", "   or: ")


class _RunUnlessStatus(TyperGroup):
    """``gradsurge search RECIPE`` is the command itself; only ``status`` is another one."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or args[0] not in self.commands:
            args = [_RUN, *args]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except typer.TyperException as error:
            error.message = without_passwords(error.message)
            raise


search = typer.Typer(
    cls=_RunUnlessStatus,
    help="Search learning rate and the like for a loss: as many workers as there are machines.",
)


@search.callback()
def _search() -> None:
    """Search learning rate and the like for a loss: as many workers as there are machines."""


@search.command(_RUN, cls=_Unnamed)
def run(
    recipe: Annotated[
        str,
        typer.Argument(
            metavar="RECIPE",
            help="Name of a recipe, or the path of a TOML file.",
            autocompletion=one_of(*RECIPES, "status"),
        ),
    ],
    loss: Annotated[
        str,
        option(
            WHAT,
            "NAME",
            "Variant of the recipe: dice-surgery, ce+dice, ...",
            autocompletion=one_of(*LOSSES),
        ),
    ],
    store: StoreFolder = None,
    data: RawData = None,
    out: StudyFolder = None,
    trials: Annotated[
        int | None,
        option(WHAT, "N", "Points; more than before extend the search.", min=1, max=10_000),
    ] = None,
    scale: Annotated[Scale, option(WHAT, "NAME", "smoke, small or paper.")] = "paper",
    as_json: AsJson = False,
    storage: Storage = None,
    grace: Annotated[
        float,
        option(SHARED, "SECONDS", "Silence after which a worker elsewhere is dead.", min=45.0),
    ] = 120.0,
    tries: Annotated[
        int,
        option(SHARED, "N", "Failures without progress until a trial is given up.", min=1),
    ] = 3,
    retry: Annotated[
        bool,
        typer.Option(
            "--retry",
            metavar="",
            help="Try trials that were given up again.",
            rich_help_panel=SHARED,
        ),
    ] = False,
    leave: Annotated[
        bool,
        typer.Option(
            "--leave",
            metavar="",
            help="End when no trial waits, though others are at work and may die.",
            rich_help_panel=SHARED,
        ),
    ] = False,
    device: Device = "auto",
    workers: Workers = None,
    threads: Threads = None,
) -> None:
    """Train a loss at the points of a recipe's search, and list the best by validation Dice.

    gradsurge search phantoms --loss dice-surgery --scale small

    gradsurge search fives --loss dice-surgery --store stores/fives --out studies/fives

    Type it again, here or on another machine that sees FOLDER, and one more worker takes part.
    Killed or stopped, the same command goes on; the trial of a dead worker is taken up by the
    next. FOLDER is one that gradsurge reproduce goes on with.

    gradsurge search status FOLDER tells how it stands; gradsurge search status --help, how.
    """
    search_as_asked(locals())


@search.command()
def status(
    folder: Annotated[
        Path | None, typer.Argument(metavar="FOLDER", help="Folder of a search.")
    ] = None,
    storage: Annotated[
        str | None,
        typer.Option(metavar="URL", help="All studies there; with FOLDER, only its own."),
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", metavar="", help="Renew it until all is done.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show who works on what, what is done, the best point so far, and the time left."""
    if folder is None and storage is None:
        raise typer.BadParameter("give the FOLDER of a search, or --storage")
    if watch and as_json:
        raise typer.BadParameter("--watch and --json: give one of the two")
    show_status(folder, storage, watch=watch, as_json=as_json)
