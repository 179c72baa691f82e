"""How far a study is: a line for each run, and the bar of its training between them."""

import time
from collections.abc import Callable, Sequence

import typer

from gradsurge.experiments.study import StudyWatcher
from gradsurge.training import Observer
from gradsurge.training.observers import make_progress


class StudyLines(StudyWatcher):
    """Writes to stderr.

    Args:
        trainings: how many are missing at the beginning.
        every: seconds between lines about cases.
        clock: seconds, as of time.monotonic.
    """

    def __init__(
        self, trainings: int, every: float = 20.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._trainings, self._number = trainings, 0
        self._every, self._clock, self._last = every, clock, clock()
        self._title, self._total, self._cases = "", 0, 0
        self._waits = False

    def stage(self, title: str, total: int) -> None:
        """Say what begins."""
        self._title, self._total = title, total
        if total:
            self._say(f"{title}: {total}")

    def done(self, parts: int) -> None:
        """Say how far it is, if it was not said of late."""
        if self._clock() - self._last >= self._every:
            self._say(f"{self._title}: {parts} of {self._total}")

    def training(self, name: str) -> None:
        """Say which training it is."""
        self._waits = False
        self._number += 1
        # Others may do some of them, and what failed before is tried again.
        self._say(f"[{self._number} of {max(self._number, self._trainings)}] {name}")

    def observers(self) -> Sequence[Observer]:
        """Return a bar on a terminal, lines elsewhere."""
        return (make_progress(),)

    def measuring(self, name: str, looks: int) -> None:
        """Begin to count cases, shifted ones among them."""
        self._title, self._total, self._cases = f"measuring {name}", looks, 0
        self._say(f"{self._title} on {looks} images")

    def measured_case(self) -> None:
        """Count a case."""
        self._cases += 1
        self.done(self._cases)

    def failed(self, name: str, reason: str) -> None:
        """Say why, and go on."""
        self._say(f"failed, and passed over: {name}: {reason}")

    def waiting(self) -> None:
        """Say it once."""
        if not self._waits:
            self._waits = True
            self._say("nothing waits: others are at work on what is left")

    def _say(self, text: str) -> None:
        self._last = self._clock()
        typer.echo(" ".join(text.split()), err=True)
