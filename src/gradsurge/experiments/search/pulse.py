"""How far the training of a trial has come, for those who look from outside."""

import signal
from collections.abc import Callable
from typing import Any

from gradsurge.training import Observer
from gradsurge.training.job import StepFacts, TrainStart


class TakenOver(OSError):
    """Another worker has taken the trial over, thinking this one dead."""


class Pulse(Observer):
    """Notes steps for the heart, and stops a training whose trial has been taken over.

    Give the same one to the trainings and to `run_worker`.

    Attributes:
        done: steps done.
        steps: of the training.
        began: the step it went on from.
        lost: set when the trial belongs to another worker.
        on_start: called when a training begins.
        stopping: tells whether a signal came before the training could notice it itself.
    """

    def __init__(self) -> None:
        self.on_start: Callable[[], object] = lambda: None
        self.stopping: Callable[[], bool] = lambda: False
        self.reset()

    def reset(self) -> None:
        """Forget the last training."""
        self.done: int | None = None
        self.steps: int | None = None
        self.began: int | None = None
        self.lost = False

    def started(self, start: TrainStart) -> None:
        self.done = self.began = start.step
        self.steps = start.settings.steps
        self.on_start()
        if self.stopping():
            signal.raise_signal(signal.SIGTERM)  # once more, now that the training listens

    def step(self, facts: StepFacts) -> None:
        self.done = facts.step
        if self.lost:  # an error of an observer is how a training can be stopped from outside
            raise TakenOver("another worker has taken this trial over")

    def facts(self) -> dict[str, Any]:
        """Return plain values."""
        return {"step": self.done, "steps": self.steps, "began": self.began}
