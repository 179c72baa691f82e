"""What ``gradsurge search`` prints at its end, and ``gradsurge search status``."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from gradsurge.cli.search_words import counts_in_words, end_in_words, point_in_words

if TYPE_CHECKING:
    from gradsurge.experiments.search import SearchTrial, StudyStatus


def print_outcome(
    status: "StudyStatus", keep: int, folder: Path, storage: str | None = None
) -> None:
    """Print the best trials, those that failed, and what to type next.

    Args:
        status: of the study.
        keep: how many of the trials the recipe reports.
        folder: of the search.
        storage: as typed; None for a journal in the folder.
    """
    from gradsurge.experiments.search import select, shown_storage

    typer.echo(f"{status.name}: {counts_in_words(status.counts)}")
    best = select(status.trials, keep)
    if best:
        Console().print(_best_table(best))
    for trial in status.trials:
        if trial.state == "failed":
            typer.echo(end_in_words(trial))
    if best and best[0].run is not None:
        kept = [] if storage is None else ["--storage", shown_storage(storage)]
        status_words = shlex.join(["gradsurge", "search", "status", str(folder), *kept])
        run = shlex.quote(str(folder / best[0].run))
        typer.echo(f"Next: gradsurge show {run}   (all: {status_words})")


def studies_table(found: Sequence["StudyStatus"]) -> RenderableType:
    """Return how studies stand, for a terminal."""
    if not found:
        return Text("no studies yet")
    parts: list[RenderableType] = []
    for status in found:
        parts += [Text(_heading(status), style="bold"), *_lines(status)]
    return Group(*parts)


def _heading(status: "StudyStatus") -> str:
    from gradsurge.training.observers.pace import show_time

    left, open_ones = status.minutes_left, status.counts["running"] + status.counts["waiting"]
    time_left = f"; about {show_time(60 * left)} left" if left is not None and open_ones else ""
    return f"{status.name}: {counts_in_words(status.counts)}{time_left}"


def _lines(status: "StudyStatus") -> list[RenderableType]:
    best = status.best
    lines: list[RenderableType] = []
    if best is not None:
        words = point_in_words(best.point)
        lines.append(Text(f"  best: trial {best.index}, Dice {best.dice:.4f}: {words}"))
    running = [trial for trial in status.trials if trial.state == "running"]
    if running:
        lines.append(_running_table(running))
    # A trial that waits after a failure tells its reason as well.
    lines += [Text(f"  {end_in_words(t)}") for t in status.trials if t.reason and not t.worker]
    return lines


def _running_table(trials: Sequence["SearchTrial"]) -> Table:
    table = _plain_table("  trial", "worker", "step", "beats", "min", "point")
    for trial in trials:
        step = "–" if trial.step is None else f"{trial.step}/{trial.steps}"
        cells = (f"  {trial.index}", trial.worker or "–", step, str(trial.beats))
        table.add_row(*map(Text, cells), f"{trial.minutes:.1f}", Text(point_in_words(trial.point)))
    return table


def _best_table(trials: Sequence["SearchTrial"]) -> Table:
    table = _plain_table("trial", "Dice", "min", "point", "run")
    for trial in trials:
        table.add_row(
            str(trial.index),
            f"{trial.dice:.4f}",
            f"{trial.minutes:.1f}",
            Text(point_in_words(trial.point)),
            Text(trial.run or "–"),
        )
    return table


def _plain_table(*headings: str) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold")
    for heading in headings:
        left = heading in ("worker", "point", "run")
        table.add_column(heading, justify="left" if left else "right", overflow="fold")
    return table
