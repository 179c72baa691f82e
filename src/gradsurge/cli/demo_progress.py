"""How far a demo has come: a bar on a terminal, lines in a log."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeRemainingColumn,
)


class StageBar:
    """A bar of the stage that is under way; finished ones leave a line with their time."""

    def __init__(self, console: Console, stages: int) -> None:
        self._console, self._stages, self._number = console, stages, 0
        self._title, self._began, self._facts = "", time.monotonic(), ""
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=16),
            MofNCompleteColumn(),
            TextColumn("{task.fields[facts]}"),
            TimeRemainingColumn(compact=True),
            console=console,
            transient=True,
        )
        self._task = self._progress.add_task("loading", total=None, facts="")

    def shown(self) -> AbstractContextManager[Any]:
        """Show the bar while inside."""
        return self._progress

    def stage(self, title: str, total: int) -> None:
        """Begin a stage, or tell how large the one that has begun is."""
        if title != self._title:
            self.finish()
            self._number += 1
            self._title, self._began, self._facts = title, time.monotonic(), ""
        text = f"{self._number}/{self._stages} {title}"
        self._progress.reset(self._task, total=total, description=text, facts="")

    def done(self, parts: int, facts: str = "") -> None:
        """Move the bar."""
        self._facts = facts
        self._progress.update(self._task, completed=parts, facts=facts)

    def note(self, text: str) -> None:
        """Show it beside the bar; the line that stays keeps the facts."""
        self._progress.update(self._task, facts=text)

    def finish(self) -> None:
        """Leave a line about the stage that has ended."""
        if self._title:
            told = (f"{time.monotonic() - self._began:.0f} s", self._facts)
            line = f"{self._number}/{self._stages} {self._title}: {', '.join(filter(None, told))}"
            self._console.print(line, markup=False, highlight=False)
            self._title = ""


class StageLines:
    """A line for every stage, and one now and then while it goes on.

    Args:
        stages: how many there will be.
        every: seconds between lines.
        clock: seconds, as of time.monotonic.
    """

    def __init__(
        self, stages: int, every: float = 10.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stages, self._number, self._title, self._total = stages, 0, "", 0
        self._every, self._clock, self._last = every, clock, clock()

    def shown(self) -> AbstractContextManager[Any]:
        """Show nothing but lines."""
        return nullcontext()

    def stage(self, title: str, total: int) -> None:
        """Say what begins."""
        self._total = total
        if title != self._title:
            self._number, self._title, self._last = self._number + 1, title, self._clock()
            typer.echo(f"{self._number}/{self._stages} {title}", err=True)

    def done(self, parts: int, facts: str = "") -> None:
        """Say how far it is, if it was not said of late."""
        now = self._clock()
        if now - self._last >= self._every:
            self._last = now
            told = f": {facts}" if facts else ""
            typer.echo(f"    {parts} of {self._total}{told}", err=True)

    def note(self, text: str) -> None:
        """Say it at once."""
        self._last = self._clock()
        typer.echo(f"    {text}", err=True)

    def finish(self) -> None:
        """Nothing: a log needs no line for what the next one tells."""


def make_watcher(stages: int) -> StageBar | StageLines:
    """Return a bar if stderr is a terminal, and lines if not."""
    console = Console(stderr=True)
    return StageBar(console, stages) if console.is_terminal else StageLines(stages)
