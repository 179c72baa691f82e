"""Whether a folder may become, or go on being, the store of a data set."""

from collections.abc import Sequence
from pathlib import Path

from gradsurge.data.case_error import shown
from gradsurge.data.datasets import RawCase
from gradsurge.data.store import lock, places
from gradsurge.data.store.dataset_file import NAME, DatasetFile, read_dataset_file

_OURS = {places.CASES, lock.NAME, "failures.json"}


def check_room(folder: Path, name: str) -> DatasetFile | None:
    """Return the dataset.json that is there, finished or not; None in a new folder.

    Args:
        folder: to be the store.
        name: of the data set.

    Raises:
        ValueError: the folder holds something else.
    """
    try:
        there = read_dataset_file(folder)
    except FileNotFoundError:
        _check_empty(folder)
        return None
    except NotADirectoryError as error:
        raise ValueError(f"{shown(folder)}: expected a folder, got a file") from error
    except ValueError as error:
        was_ours = (folder / places.CASES).is_dir()  # never tell to delete what somebody else made
        cure = "delete that file and run again" if was_ours else "choose another folder"
        raise ValueError(f"{error}; {cure}") from error
    if there.name != name:
        raise ValueError(
            f"{shown(folder)}: holds the data set {there.name}; choose another folder for {name}"
        )
    return there


def check_apart(raw: Path, out: Path, cases: Sequence[RawCase]) -> None:
    """Refuse a store in its raw folder, or round it: each would be taken for a part of the other.

    Args:
        raw: the raw folder.
        out: to be the store.
        cases: found in the raw folder; phantoms have no files, and may lie anywhere.

    Raises:
        ValueError: one lies in the other.
    """
    if not any(case.files for case in cases):
        return
    raw, out = raw.resolve(), out.resolve()
    if out.is_relative_to(raw) or raw.is_relative_to(out):
        raise ValueError(
            f"{shown(out)}: the store must not lie in the raw folder {shown(raw)}, nor round it; "
            f"choose another folder"
        )


def _check_empty(folder: Path) -> None:
    strange = [
        file.name
        for file in (folder.iterdir() if folder.exists() else ())
        if file.name not in _OURS and not file.name.startswith(f".{NAME}.")
    ]
    if strange:
        raise ValueError(
            f"{shown(folder)}: no store, but holds {shown(Path(min(strange)))}; "
            f"choose a new or empty folder"
        )
