"""Ctrl-C and SIGTERM as a wish to stop, which the loop grants at the end of a step."""

import signal
import threading
import time
from types import FrameType, TracebackType
from typing import Any

# torchrun passes a Ctrl-C on to processes that the terminal has sent it to already.
_ECHO = 0.5


class StopSignal:
    """Notices SIGINT and SIGTERM while it is open, and gives the handlers back afterwards.

    A second Ctrl-C stops at once, by KeyboardInterrupt. Outside of the main thread, where Python
    allows no handlers, nothing is noticed. One inside another tells it at its end: a signal in the
    last moments of a training, which then is finished, is meant for whoever would begin the next.

    >>> with StopSignal() as stop:
    ...     signal.raise_signal(signal.SIGTERM)
    ...     stop.asked
    True
    """

    def __init__(self) -> None:
        self.asked = False
        self._first_interrupt: float | None = None
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> "StopSignal":
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._notice)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
            outer = getattr(handler, "__self__", None)
            if self.asked and isinstance(outer, StopSignal):
                outer.asked = True
                outer._first_interrupt = outer._first_interrupt or self._first_interrupt

    def _notice(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        if number != signal.SIGINT:
            return
        now = time.monotonic()
        if self._first_interrupt is None:
            self._first_interrupt = now
        elif now - self._first_interrupt > _ECHO:
            raise KeyboardInterrupt
