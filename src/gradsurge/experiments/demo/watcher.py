"""Who is told how far a demo has come, and how it stops."""

from collections.abc import Mapping
from typing import Protocol

from gradsurge.training import Observer
from gradsurge.training.job import StepFacts, TrainStart
from gradsurge.training.observers.pace import Pace


class DemoStopped(Exception):
    """Somebody stopped it; what was done is kept, and the same demo goes on from there."""


class Watcher(Protocol):
    """Is told of stages and of what is done of them."""

    def stage(self, title: str, total: int) -> None:
        """A stage begins, or the one that has begun is of so many parts."""

    def done(self, parts: int, facts: str = "") -> None:
        """So many parts of the stage are done; ``facts`` tells of the last one."""

    def note(self, text: str) -> None:
        """Something else happens in the stage, or did before."""


class Unwatched:
    """A watcher that keeps it to itself."""

    def stage(self, title: str, total: int) -> None:
        """Say nothing."""

    def done(self, parts: int, facts: str = "") -> None:
        """Say nothing."""

    def note(self, text: str) -> None:
        """Say nothing."""


class StepWatcher(Observer):
    """Tells a watcher of the steps of a training: mean loss of late, last validation Dice."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher, self._pace, self._dice = watcher, Pace(), ""

    def started(self, start: TrainStart) -> None:
        self._pace.start(start)
        self._watcher.done(start.step)

    def step(self, facts: StepFacts) -> None:
        self._pace.add(facts)
        self._watcher.done(facts.step, f"loss {self._pace.loss:.3f}{self._dice}")

    def validated(self, step: int, scores: Mapping[str, float], best: bool) -> None:
        self._dice = f", Dice {scores['dice']:.3f}"
        self._watcher.done(step, f"loss {self._pace.loss:.3f}{self._dice}")
