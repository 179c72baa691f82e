"""A file that is there whole or not at all, whatever happens while it is written."""

import os
import platform
from collections.abc import Callable
from pathlib import Path
from typing import IO


class Sink:
    """A file for writers that report a full disk as something else: it keeps the true reason."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.error: OSError | None = None

    def write(self, content: bytes) -> int:
        """Write, and keep the error if there is one."""
        try:
            return self._file.write(content)
        except OSError as error:
            self.error = error
            raise

    def flush(self) -> None:
        """Pass everything on."""
        self._file.flush()


def write_durably(file: Path, write: Callable[[Sink], None]) -> None:
    """Write beside the file, force it to the disk, then take the file's place.

    The folder is forced to the disk as well: else a power cut could bring the old file back. Every
    process has its own file beside: one that was taken for dead may write still.

    Raises:
        OSError: it could not be written; what was there before is untouched.
    """
    beside = file.with_name(f".{file.name}.{platform.node()}.{os.getpid()}.new")
    try:
        with beside.open("wb") as stream:
            sink = Sink(stream)
            try:
                write(sink)
            except (OSError, RuntimeError) as error:
                raise (sink.error or error) from error
            stream.flush()
            os.fsync(stream.fileno())
        beside.replace(file)
    finally:
        beside.unlink(missing_ok=True)
    _sync_folder(file.parent)


def remove_left_behind(file: Path) -> None:
    """Remove what killed processes left beside a file."""
    for beside in file.parent.glob(f".{file.name}*.new"):
        beside.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # folders cannot be opened there
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
