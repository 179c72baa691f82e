"""What commands share: where they write, what they show while working, how they fail."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from gradsurge.cli.typed_secrets import without_passwords


def check_directory(path: Path) -> Path:
    """Refuse a directory that cannot be made because a file is in its place or above it."""
    for part in (path, *path.parents):
        if part.exists():
            if not part.is_dir():
                raise typer.BadParameter(f"expected a directory, {part} is a file")
            break
    return path


def fail(reason: object, error: BaseException | None = None) -> NoReturn:
    """Print why in one line, without passwords, and exit with 1: something failed."""
    typer.echo(f"gradsurge: error: {without_passwords(str(reason))}", err=True)
    raise typer.Exit(1) from (error or (reason if isinstance(reason, Exception) else None))


def interrupted(what: str, again: str) -> NoReturn:
    """Print what an interruption left, and the command that goes on; exit with 1."""
    typer.echo(f"gradsurge: {what}; go on with: {again}", err=True)
    raise typer.Exit(1)


@contextmanager
def mistakes_in_one_line() -> Iterator[None]:
    """Let a ValueError end the command as `fail` does."""
    try:
        yield
    except ValueError as error:
        fail(error)


@contextmanager
def usage() -> Iterator[None]:
    """Refuse what was typed, with exit code 2, where it names nothing that there is."""
    try:
        yield
    except ValueError as error:
        raise typer.BadParameter(without_passwords(str(error))) from error


@contextmanager
def progress_bar(description: str, total: int) -> Iterator[tuple[Progress, TaskID]]:
    """Show a bar on stderr, so that stdout stays clean, and remove it at the end."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as p:
        yield p, p.add_task(description, total=total)
