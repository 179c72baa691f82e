"""Signs of life of a worker: how far its training is, in the attributes of its trial."""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any

from gradsurge.experiments.search.attempt import BEAT, Attempt
from gradsurge.experiments.search.states import note
from gradsurge.experiments.search.storage import storage_errors
from gradsurge.training import Observer
from gradsurge.training.job import StepFacts, TrainStart
from gradsurge.training.signals import StopSignal

if TYPE_CHECKING:
    from optuna import Study


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

    @contextmanager
    def listening(self) -> Iterator[StopSignal]:
        """Notice signals while inside, also between trainings, which listen only themselves."""
        with StopSignal() as stop:
            self.stopping = lambda: stop.asked
            yield stop

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


class Heart:
    """Beats while it is open: a thread writes number, step and minutes every few seconds.

    A storage that is out of reach for a while is tried again with the next beat. The thread is
    joined at the end: one that is inside of a driver while Python shuts down could crash it.

    Args:
        study: of the attempt.
        attempt: claimed by this worker.
        pulse: knows the step.
        every: seconds between beats.
        clock: seconds, as of time.monotonic.
    """

    def __init__(
        self,
        study: "Study",
        attempt: Attempt,
        pulse: Pulse,
        every: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._study, self._attempt, self._pulse = study, attempt, pulse
        self._every, self._clock = every, clock
        self._began, self._beats = clock(), 0
        self._wake, self._stop = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="heart", daemon=True)

    @property
    def minutes(self) -> float:
        """Worked on the point, by all attempts."""
        return self._attempt.minutes + (self._clock() - self._began) / 60

    def facts(self) -> dict[str, Any]:
        """Return what a beat tells."""
        minutes = round(self.minutes, 3)  # a journal keeps every beat
        return {"beats": self._beats, "minutes": minutes, **self._pulse.facts()}

    def __enter__(self) -> "Heart":
        self._pulse.on_start = self._wake.set  # where it goes on from is told at once
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._pulse.on_start = lambda: None
        self._stop.set()
        self._wake.set()
        self._thread.join()

    def _run(self) -> None:
        unreachable = storage_errors()
        while not self._stop.is_set():
            self._beats += 1
            try:
                self._pulse.lost = not note(self._study, self._attempt, BEAT, self.facts())
            except unreachable:
                self._beats -= 1
            if self._pulse.lost:
                return
            self._wake.wait(self._every)
            self._wake.clear()
