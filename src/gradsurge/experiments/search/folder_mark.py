"""A mark in the folder of a search, so that one database serves many folders."""

import os
import uuid
from pathlib import Path

from gradsurge.data.case_error import shown
from gradsurge.experiments.search.address import journal_of

MARK = "search.mark"


def shared_name(name: str, folder: Path, storage: str) -> str:
    """Return the name of a study in its storage.

    In the folder's own journal it is the plain name. Elsewhere the folder's mark follows it: the
    same recipe searched in another folder is another study, and workers on all machines that see
    this folder find the same one.

    Args:
        name: of the study.
        folder: of the search.
        storage: where the study is kept.
    """
    return name if is_own(folder, storage) else f"{name}@{mark_of(folder)}"


def is_marked(name: str) -> bool:
    """Tell whether a study is of another folder than the one whose journal it is in.

    >>> is_marked("chase/paper/dice@0123456789ab"), is_marked("chase/paper/dice")
    (True, False)
    """
    return "@" in name


def name_ending(folder: Path, storage: str) -> str:
    """Return how the names of a folder's studies end in a storage.

    Raises:
        ValueError: no search was begun in that folder.
    """
    if is_own(folder, storage):
        return ""
    if not (folder / MARK).exists():
        raise ValueError(f"{shown(folder)}: no search was begun there with that storage")
    return f"@{mark_of(folder)}"


def mark_of(folder: Path) -> str:
    """Return the mark of a folder; it gets one if it has none.

    Raises:
        ValueError: the file of the mark holds something else.
    """
    file = folder / MARK
    folder.mkdir(parents=True, exist_ok=True)
    beside = file.with_name(f".{MARK}.{uuid.uuid4().hex}")
    if not file.exists():
        beside.write_text(uuid.uuid4().hex[:12], encoding="ascii")
        try:
            os.link(beside, file)  # whole or not at all, and only the first worker succeeds
        except FileExistsError:
            return mark_of(folder)
        finally:
            beside.unlink()
    mark = file.read_text(encoding="utf-8", errors="replace").strip()
    if not (len(mark) == 12 and mark.isalnum() and mark.isascii()):
        raise ValueError(
            f"{shown(file)}: not the mark of a search; remove it, or choose another folder"
        )
    return mark


def is_own(folder: Path, storage: str) -> bool:
    """Tell whether a storage is the folder's own journal."""
    return Path(journal_of(folder)).absolute() == Path(storage).absolute()
