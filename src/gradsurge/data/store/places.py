"""Where things lie in a store, and folders that come and go as a whole."""

import errno
import shutil
from pathlib import Path
from uuid import uuid4

from gradsurge.data.store.folder_names import folder_name

CASES = "cases"
LOCATIONS = "locations.npz"
_NEW, _OLD = ".new-", ".old-"  # no folder of a case starts with a dot


def case_folder(store: Path, name: str) -> Path:
    """Return the folder of a case."""
    return store / CASES / folder_name(name)


def array_file(folder: Path, name: str) -> Path:
    """Return the file of "image", "label" or an extra in the folder of a case."""
    return folder / f"{name}.b2nd"


def folder_beside(place: Path) -> Path:
    """Make a folder to write into, which `take_place` brings to its place."""
    beside = place.with_name(f"{_NEW}{uuid4().hex}")
    beside.mkdir(parents=True)
    return beside


def take_place(beside: Path, place: Path) -> None:
    """Rename a folder, in place of the one that is there."""
    while True:
        try:
            beside.rename(place)
        except OSError as error:
            # One is there: the old one, or that of a worker which outlived its killed run.
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            remove_folder(place)
        else:
            return


def remove_folder(folder: Path) -> None:
    """Remove a folder: gone from its place at once, then file by file."""
    aside = folder.with_name(f"{_OLD}{uuid4().hex}")
    try:
        folder.rename(aside)
    except FileNotFoundError:
        return
    shutil.rmtree(aside, ignore_errors=True)


def is_leftover(folder: Path) -> bool:
    """Tell whether a killed run left this folder behind."""
    return folder.name.startswith((_NEW, _OLD))
