"""Optuna's journal in a file, which a worker killed while writing does not spoil."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from gradsurge.data.case_error import shown

if TYPE_CHECKING:
    from optuna.storages import JournalStorage

_BEGINNING = b'{"op_code":'  # of every line that Optuna writes
_BLOCK = 4096


class MendingLock:
    """The lock under which a journal is written; who gets it first removes half a last line.

    A full disk or a kill may leave one. The next line would be written behind it, and then the
    whole journal could not be read any more.

    Args:
        lock: Optuna's lock.
        file: the journal.
    """

    def __init__(self, lock: Any, file: Path) -> None:
        self._lock, self._file = lock, file

    def acquire(self) -> bool:
        """Wait for the lock, then mend."""
        self._lock.acquire()
        remove_half_line(self._file)
        return True

    def release(self) -> None:
        """Let others write."""
        self._lock.release()


def open_journal(file: Path) -> "JournalStorage":
    """Open a journal, or begin one.

    Raises:
        ValueError: the file is something else, or damaged.
        OSError: it cannot be read or made.
    """
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock

    refuse_other_file(file)
    file.parent.mkdir(parents=True, exist_ok=True)
    # Not Optuna's symbolic link: on a machine that mounts the folder elsewhere it points nowhere,
    # and the lock of a dead worker is never given up.
    lock = MendingLock(JournalFileOpenLock(str(file)), file)
    try:
        backend = JournalFileBackend(str(file), lock_obj=cast("Any", lock))
        return JournalStorage(backend)
    except (ValueError, KeyError, TypeError, AttributeError, AssertionError) as error:
        reason = " ".join(str(error).split())
        raise ValueError(
            f"storage: {shown(file)}: a damaged journal ({reason}); the runs are not harmed: move "
            f"it away, and a new search finds them"
        ) from error


def refuse_other_file(file: Path) -> None:
    """Raise if a file is not a journal: it would be written to."""
    if not file.exists():
        return
    if not file.is_file():
        raise ValueError(f"storage: expected the path of a journal file, {shown(file)} is a folder")
    with file.open("rb") as stream:
        beginning = stream.read(len(_BEGINNING))
    if not _BEGINNING.startswith(beginning):
        raise ValueError(f"storage: {shown(file)} is no journal of a search; give another path")


def remove_half_line(file: Path) -> None:
    """Cut off what follows the last line's end."""
    with file.open("r+b") as stream:
        end = stream.seek(0, os.SEEK_END)
        if end == 0:
            return
        stream.seek(end - 1)
        if stream.read(1) == b"\n":
            return
        stream.truncate(_end_of_lines(stream, end))


def _end_of_lines(stream: Any, end: int) -> int:
    while end > 0:
        start = max(0, end - _BLOCK)
        stream.seek(start)
        place = stream.read(end - start).rfind(b"\n")
        if place >= 0:
            return start + int(place) + 1
        end = start
    return 0
