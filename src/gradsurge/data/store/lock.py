"""One writer at a time."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gradsurge.data.case_error import shown

NAME = ".lock"


@contextmanager
def only_writer(store: Path) -> Iterator[None]:
    """Keep other writers out of a store; the lock goes with the process, even if it is killed.

    Raises:
        ValueError: another process is writing.
    """
    import fcntl

    with (store / NAME).open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                raise ValueError(
                    f"{shown(store)}: another gradsurge prepare is writing to it; wait for it, or "
                    f"choose another folder"
                ) from error
            raise
        yield
