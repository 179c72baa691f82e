"""``gradsurge search status``: once, or until all is done."""

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.live import Live

from gradsurge.cli.output import mistakes_in_one_line
from gradsurge.cli.search_output import studies_table

if TYPE_CHECKING:
    from gradsurge.experiments.search import StudyStatus

_EVERY = 2.0  # seconds between two looks at a terminal
_EVERY_LOG = 30.0  # seconds between two tables in a log


def show_status(folder: Path | None, storage: str | None, *, watch: bool, as_json: bool) -> None:
    """Print how the studies of a folder or a storage stand; a mistake is one line, exit code 1."""
    with mistakes_in_one_line():
        if watch:
            _watch(folder, storage)
            return
        found = _read(folder, storage)
    if as_json:
        typer.echo(json.dumps([status.to_json() for status in found], indent=2))
    else:
        Console().print(studies_table(found))


def _read(folder: Path | None, storage: str | None) -> list["StudyStatus"]:
    from gradsurge.experiments.search import journal_of, study_status
    from gradsurge.experiments.search.address import is_database
    from gradsurge.experiments.search.folder_mark import is_own, name_ending

    if folder is None:
        # Only of a folder's own journal is it known where the workers' locks are.
        address = storage or ""
        beside = Path(address).parent
        own = not is_database(address) and is_own(beside, address)
        return study_status(address, folder=beside if own else None)
    if storage is None:
        return study_status(journal_of(folder), folder=folder)
    return study_status(storage, name_ending(folder, storage), folder)


def _watch(folder: Path | None, storage: str | None) -> None:
    console = Console()
    found = _read(folder, storage)
    try:
        if not console.is_terminal:  # a log: one table after the other
            console.print(studies_table(found))
            while _goes_on(found):
                time.sleep(_EVERY_LOG)
                found = _read(folder, storage)
                console.print(studies_table(found))
            return
        with Live(studies_table(found), console=console, auto_refresh=False) as live:
            while _goes_on(found):
                time.sleep(_EVERY)
                found = _read(folder, storage)
                live.update(studies_table(found), refresh=True)
    except KeyboardInterrupt:
        typer.echo("stopped watching; the workers go on", err=True)


def _goes_on(found: Sequence["StudyStatus"]) -> bool:
    return any(status.counts["running"] + status.counts["waiting"] for status in found)
