"""What of a store is still good, and what has to go."""

import shutil
from collections.abc import Collection
from pathlib import Path

from gradsurge.data.case_error import CaseError
from gradsurge.data.store import case_file, places
from gradsurge.data.store.array_file import has_size
from gradsurge.data.store.folder_names import folder_name
from gradsurge.data.store.json_file import remove_halves
from gradsurge.data.store.stamp import Stamp


def is_current(store: Path, name: str, stamp: Stamp) -> bool:
    """Tell whether a case is stored whole and was made of just this."""
    folder = places.case_folder(store, name)
    try:
        facts = case_file.read_case_file(folder)
    except CaseError:
        return False
    return (
        facts.name == name
        and facts.stamp == stamp
        and all(a.is_there(places.array_file(folder, n)) for n, a in facts.arrays.items())
        and has_size(folder / places.LOCATIONS, facts.location_bytes)
    )


def remove_case(store: Path, name: str) -> None:
    """Remove a case, if it is there."""
    places.remove_folder(places.case_folder(store, name))


def remove_others(store: Path, keep: Collection[str]) -> list[str]:
    """Remove what a killed run left, and the cases that are not to be kept.

    Args:
        store: the folder of the store.
        keep: names of cases.

    Returns:
        The names of the cases removed.
    """
    remove_halves(store)
    removed, wanted = [], {folder_name(name) for name in keep}
    for folder in _folders(store):
        if places.is_leftover(folder):
            shutil.rmtree(folder, ignore_errors=True)
        elif folder.name not in wanted:
            removed.append(_name_in(folder))
            places.remove_folder(folder)
    return removed


def _folders(store: Path) -> list[Path]:
    """Return the folders of cases, whole or not; what else a user put there is not ours."""
    cases = store / places.CASES
    found = sorted(cases.iterdir()) if cases.is_dir() else []
    return [f for f in found if places.is_leftover(f) or (f / case_file.NAME).is_file()]


def _name_in(folder: Path) -> str:
    try:
        return case_file.read_case_file(folder).name
    except CaseError:
        return folder.name
