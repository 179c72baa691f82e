"""A training as a live bar, for terminals."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from gradsurge.training.job import Observer, StepFacts, TrainEnd, TrainStart
from gradsurge.training.observers.lines import PlainLines
from gradsurge.training.observers.pace import Pace, show_time
from gradsurge.training.observers.sentences import (
    describe_end,
    describe_scores,
    describe_start,
    describe_validation,
)


class ProgressBar(Observer):
    """Shows a bar with loss, Dice, ECE, steps per second and the time left.

    Args:
        console: where to; stderr if left out.
    """

    def __init__(self, console: Console | None = None) -> None:
        self._console = Console(stderr=True) if console is None else console
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[facts]}"),
            console=self._console,
            transient=True,
        )
        self._pace, self._scores = Pace(), ""
        self._folder = Path()

    def started(self, start: TrainStart) -> None:
        self._folder = start.folder
        self._pace.start(start)
        self._say(describe_start(start))
        steps = start.settings.steps
        self._task = self._bar.add_task("training", total=steps, completed=start.step, facts="")
        self._bar.start()

    def step(self, facts: StepFacts) -> None:
        self._pace.add(facts)
        pace = self._pace
        shown = (
            f"loss {pace.loss:.4f}",
            self._scores,
            f"{pace.per_second:.2f} steps/s",
            f"{show_time(pace.seconds_left)} left",
        )
        text = ", ".join(part for part in shown if part)
        self._bar.update(self._task, completed=facts.step, facts=text)

    def validated(self, step: int, scores: Mapping[str, float], best: bool) -> None:
        self._scores = describe_scores(scores)
        self._say(describe_validation(step, scores, best))

    def stopped(self, end: TrainEnd) -> None:
        self._bar.stop()
        text = describe_end(end, self._folder)
        if text is not None:
            self._say(text)

    def _say(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)


def make_progress(stream: TextIO | None = None) -> Observer:
    """Return a bar if the stream, stderr if left out, is a terminal, and plain lines if not."""
    stream = sys.stderr if stream is None else stream
    console = Console(file=stream)
    return ProgressBar(console) if console.is_terminal else PlainLines(stream)
