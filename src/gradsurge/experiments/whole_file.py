"""Writing a file so that a reader never sees half of it."""

import os
from pathlib import Path


def write_whole(file: Path, content: bytes) -> None:
    """Write beside the file, then take its place; a failure leaves what was there before."""
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        beside.write_bytes(content)
        beside.replace(file)
    finally:
        beside.unlink(missing_ok=True)
