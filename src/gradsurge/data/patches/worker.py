"""How a worker behaves when the main process is interrupted."""

import signal
import sys
from types import TracebackType

_LEFT = (ConnectionError, EOFError)


def set_up_worker(_: int) -> None:
    """Leave Ctrl-C to the main process, and keep quiet if that goes.

    A terminal sends Ctrl-C to all processes. The main one may want to save its state and go on to
    the end of a step, with workers; and if it stops, it stops them.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.excepthook = report_unless_main_left


def report_unless_main_left(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Print a traceback, but not that of a batch which the main process stopped to wait for.

    The thread that hands tensors over reports here, and its connection breaks then.
    """
    if not issubclass(kind, _LEFT):
        sys.__excepthook__(kind, error, trace)
