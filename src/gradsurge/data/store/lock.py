"""One writer at a time."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gradsurge.data.case_error import shown

NAME = ".lock"


@contextmanager
def only_writer(
    store: Path, command: str = "prepare", *, leave_lock: bool = True
) -> Iterator[None]:
    """Keep other writers out of a folder; the lock goes with the process, even if it is killed.

    Args:
        store: the folder.
        command: of gradsurge, that writes there.
        leave_lock: whether the file that is locked stays; it is empty and hidden.

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
                    f"{shown(store)}: another gradsurge {command} is writing to it; wait for it, "
                    f"or choose another folder"
                ) from error
            raise
        try:
            yield
        finally:
            if not leave_lock:
                (store / NAME).unlink(missing_ok=True)
