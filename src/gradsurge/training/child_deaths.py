"""Tell of a dead data worker between steps, never within one.

A DataLoader has a handler of SIGCHLD that raises wherever the main process happens to be when a
worker dies. SIGTERM, sent to a whole job as SLURM does, kills the workers: the error would tear the
very step that is to be finished and saved.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_CHILD = getattr(signal, "SIGCHLD", None)  # Windows has none


class ChildDeaths:
    """Holds SIGCHLD back, except while data are fetched.

    >>> deaths = ChildDeaths()
    >>> with deaths.told():
    ...     _ = signal.signal(signal.SIGCHLD, lambda *_: print("a worker died"))
    >>> signal.raise_signal(signal.SIGCHLD)
    >>> with deaths.told():
    ...     print("fetching")
    a worker died
    fetching
    >>> deaths.release()
    >>> _ = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    """

    def __init__(self) -> None:
        self._handler: Any = None
        self._pending = False

    @contextmanager
    def told(self) -> Iterator[None]:
        """Let the handler have what came in the meantime, and all that comes now."""
        self.release()
        try:
            if self._pending and _CHILD is not None:
                self._pending = False
                signal.raise_signal(_CHILD)
            yield
        finally:
            self._hold()

    def release(self) -> None:
        """Put the handler back."""
        if _CHILD is not None and self._handler is not None:
            signal.signal(_CHILD, self._handler)
            self._handler = None

    def _hold(self) -> None:
        if _CHILD is not None and threading.current_thread() is threading.main_thread():
            self._handler = signal.signal(_CHILD, self._note)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._pending = True
