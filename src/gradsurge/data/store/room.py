"""Whether a folder may become, or go on being, the store of a data set."""

from pathlib import Path

from gradsurge.data.case_error import shown
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
        raise ValueError(
            f"{error}; choose another folder, or, if it was a store, delete that file and run again"
        ) from error
    if there.name != name:
        raise ValueError(
            f"{shown(folder)}: holds the data set {there.name}; choose another folder for {name}"
        )
    return there


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
