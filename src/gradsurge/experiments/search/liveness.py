"""Telling dead workers from slow ones."""

import time
from collections.abc import Callable
from typing import Any

from gradsurge.experiments.search.attempt import Attempt

_LONGEST_LOOK = 5.0


class Silence:
    """How long running attempts have given no sign of life, as this process has seen it.

    Clocks of machines differ, so no time that another one wrote is looked at: what counts is
    whether its beats change, by the clock of who looks. Of the time between two looks at most
    a few seconds count: who was frozen itself, or trained for an hour, has not watched.

    Args:
        clock: seconds, as of time.monotonic.

    >>> ticks = iter([0.0, 4.0, 1004.0, 1005.0])
    >>> silence = Silence(lambda: next(ticks))
    >>> attempt = Attempt(7, 0, 0, "running", None, {"beat": {"beats": 3}})
    >>> [silence.seconds(attempt) for _ in range(3)]
    [0.0, 4.0, 9.0]
    >>> silence.seconds(Attempt(7, 0, 0, "running", None, {"beat": {"beats": 4}}))
    0.0
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: dict[int, tuple[Any, float, float]] = {}
        self._beating: set[int] = set()

    def seconds(self, attempt: Attempt) -> float:
        """Look at an attempt; return for how long it has been silent."""
        now, sign = self._clock(), (attempt.worker.get("name"), attempt.beat.get("beats"))
        before = self._seen.get(attempt.number)
        if before is None or before[0] != sign:
            if before is not None:
                self._beating.add(attempt.number)
            self._seen[attempt.number] = (sign, now, 0.0)
            return 0.0
        _, last, silent = before
        silent += min(now - last, _LONGEST_LOOK)
        self._seen[attempt.number] = (sign, now, silent)
        return silent

    def has_beaten(self, attempt: Attempt) -> bool:
        """Tell whether a beat was seen to come."""
        return attempt.number in self._beating
