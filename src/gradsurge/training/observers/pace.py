"""How fast a training is, and how long it will take."""

import time
from collections.abc import Callable

from gradsurge.training.job import StepFacts, TrainStart

_MEMORY = 0.98  # of the mean loss: it looks back fifty steps


class Pace:
    """Steps per second and time left, validations included, and the mean loss of late.

    Args:
        clock: seconds, as of time.monotonic.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began, self._first = clock(), 0
        self._sum, self._weight = 0.0, 0.0
        self.step, self.steps = 0, 0
        self.waiting, self.working = 0.0, 0.0

    def start(self, start: TrainStart) -> None:
        """Set out from a step."""
        self._began = self._clock()
        self.step = self._first = start.step
        self.steps = start.settings.steps

    def add(self, facts: StepFacts) -> None:
        """Take in a step."""
        self.step = facts.step
        self._sum = _MEMORY * self._sum + facts.loss
        self._weight = _MEMORY * self._weight + 1.0
        self.waiting += facts.waiting
        self.working += facts.seconds

    @property
    def loss(self) -> float:
        """Mean loss of the last steps."""
        return self._sum / self._weight if self._weight else float("nan")

    @property
    def per_second(self) -> float:
        """Steps per second, without validations."""
        return (self.step - self._first) / self.working if self.working else 0.0

    @property
    def data_share(self) -> float:
        """Share of the steps' time spent waiting for data."""
        return self.waiting / self.working if self.working else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Until the last step, if all goes on like this; None before the first step."""
        done = self.step - self._first
        return (self._clock() - self._began) / done * (self.steps - self.step) if done else None


def show_time(seconds: float | None) -> str:
    """Return a time as hours, minutes and seconds.

    >>> show_time(3725.4), show_time(61), show_time(None)
    ('1:02:05', '1:01', '-:--')
    """
    if seconds is None:
        return "-:--"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
