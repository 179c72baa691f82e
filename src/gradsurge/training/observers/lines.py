"""A training as plain lines, for logs."""

import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TextIO

from gradsurge.training.job import Observer, StepFacts, TrainEnd, TrainStart
from gradsurge.training.observers.pace import Pace, show_time
from gradsurge.training.observers.sentences import (
    describe_end,
    describe_start,
    describe_validation,
)


class PlainLines(Observer):
    """Writes a line now and then, and one for each validation.

    Args:
        stream: where to; stderr if left out.
        every: seconds between lines about steps.
        clock: seconds, as of time.monotonic.
    """

    def __init__(
        self,
        stream: TextIO | None = None,
        every: float = 30.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._every, self._clock = every, clock
        self._pace = Pace(clock)
        self._last: float | None = None
        self._folder = Path()

    def started(self, start: TrainStart) -> None:
        self._folder = start.folder
        self._pace.start(start)
        self._say(describe_start(start))

    def step(self, facts: StepFacts) -> None:
        self._pace.add(facts)
        now = self._clock()
        if self._last is None or now - self._last >= self._every:
            self._last, pace = now, self._pace
            self._say(
                f"step {pace.step} of {pace.steps}: loss {pace.loss:.4f}, "
                f"{pace.per_second:.2f} steps/s, {pace.data_share:.0%} waiting for data, "
                f"{show_time(pace.seconds_left)} left"
            )

    def validated(self, step: int, scores: Mapping[str, float], best: bool) -> None:
        self._say(describe_validation(step, scores, best))

    def stopped(self, end: TrainEnd) -> None:
        text = describe_end(end, self._folder)
        if text is not None:
            self._say(text)

    def _say(self, text: str) -> None:
        self._stream.write(text + "\n")
        self._stream.flush()
