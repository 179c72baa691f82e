"""One array in one file: Blosc2's b2nd, of which a box can be read without the rest."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.case_error import CaseError, shown
from gradsurge.data.store.blocks import chunks_and_blocks

# One thread: a pool of threads does not survive the fork of a loader's workers, and hangs there.
_THREADS = 1
_LEVEL = 5


@dataclass(frozen=True)
class ArrayFile:
    """What a file must be: its array, its size, and the CRC-32 of its bytes."""

    shape: tuple[int, ...]
    dtype: str
    bytes: int
    crc32: int

    def is_there(self, file: Path) -> bool:
        """Tell whether there is a file of this size."""
        return has_size(file, self.bytes)


def has_size(file: Path, size: int) -> bool:
    """Tell whether there is a file of that many bytes."""
    try:
        return file.stat().st_size == size
    except OSError:
        return False


def write_array(file: Path, array: NDArray[Any], dimensions: int) -> ArrayFile:
    """Compress an array without loss and write it.

    It is compressed in memory first: Blosc2 reports a full disk as an error without a reason, or,
    writing through a memory map, dies of SIGBUS.
    """
    import blosc2

    chunks, blocks = chunks_and_blocks(array.shape, dimensions)
    content = blosc2.asarray(
        np.ascontiguousarray(array),
        contiguous=True,  # one buffer from the start: three times faster to take out
        chunks=chunks,
        blocks=blocks,
        cparams={
            "codec": blosc2.Codec.LZ4,
            "clevel": _LEVEL,
            "filters": [blosc2.Filter.BITSHUFFLE],
            "nthreads": _THREADS,
        },
    ).to_cframe()
    file.write_bytes(content)
    return ArrayFile(array.shape, array.dtype.name, len(content), zlib.crc32(content))


def read_array(file: Path, facts: ArrayFile, box: Sequence[slice]) -> NDArray[Any]:
    """Return a box of the array of a file; only the blocks it touches are read.

    Raises:
        CaseError: the file is missing or damaged.
    """
    import blosc2

    if not facts.is_there(file):
        raise _damaged(file, "missing, or not of the size it was written with")
    try:
        array = blosc2.open(str(file), mmap_mode="r", dparams={"nthreads": _THREADS})
        if tuple(array.shape) != facts.shape or array.dtype.name != facts.dtype:
            raise _damaged(file, f"holds {array.dtype} {tuple(array.shape)}")
        found: NDArray[Any] = array[tuple(box)]
    except (RuntimeError, AttributeError, TypeError, OSError, MemoryError) as error:
        raise _damaged(file, str(error) or type(error).__name__) from error
    return found


def check_array(file: Path, facts: ArrayFile) -> None:
    """Read the whole file and compare its checksum.

    Raises:
        CaseError: the file is missing or damaged.
    """
    if not facts.is_there(file):
        raise _damaged(file, "missing, or not of the size it was written with")
    if zlib.crc32(file.read_bytes()) != facts.crc32:
        raise _damaged(file, "its checksum differs")


def _damaged(file: Path, reason: str) -> CaseError:
    reason = " ".join(reason.split())
    return CaseError(
        f"{shown(file)}: damaged ({reason}); delete its folder and run gradsurge prepare again"
    )
