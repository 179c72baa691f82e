"""Worker processes that end with the process they work for, however that ends."""

import os
import signal
import threading
import time

_LOOK = 0.5  # seconds between two looks at the parent


def follow_parent(parent: int) -> None:
    """Leave Ctrl-C to the parent, and end when it is gone; called first in a worker.

    A terminal sends Ctrl-C to all processes; the parent decides and ends its workers. Killed, it
    cannot, and the worker becomes the child of another process, which is what is watched: Linux
    could send a signal instead (PR_SET_PDEATHSIG), but does so when the parent's thread ends.

    Args:
        parent: its process number.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK)
    os._exit(1)  # nobody is left to tell; what was being written is written beside its place
