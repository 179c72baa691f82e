"""What commands share about where they write and what they show while working."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn


def check_directory(path: Path) -> Path:
    """Refuse a directory that cannot be made because a file is in its place or above it."""
    for part in (path, *path.parents):
        if part.exists():
            if not part.is_dir():
                raise typer.BadParameter(f"expected a directory, {part} is a file")
            break
    return path


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
