"""The folder of an evaluation's results: filled out of sight, then put in place."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# The first tells that the others are ours, so it comes first.
RESULTS = ("metrics.json", "cases.csv", "report.html", "sketches")


def results_in(folder: Path) -> list[str]:
    """Return the names of results that are there."""
    return [name for name in RESULTS if os.path.lexists(folder / name)]


def foreign_in(folder: Path) -> list[str]:
    """Return the names of results that are there without ``metrics.json``: someone else's."""
    found = results_in(folder)
    return [] if RESULTS[0] in found else found


@contextmanager
def new_results(folder: Path) -> Iterator[Path]:
    """Give a folder to write to; what is in it replaces older results if nothing fails.

    It lies inside, because a folder may be a file system of its own, where moving is no copying.
    Whatever is raised meanwhile leaves older results as they were.
    """
    made = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    unseen = folder / f".unfinished.{os.getpid()}"
    unseen.mkdir()
    try:
        yield unseen
        for name in RESULTS:
            if os.path.lexists(unseen / name):
                _put(unseen / name, folder / name, aside=unseen / f"old {name}")
    finally:
        shutil.rmtree(unseen)
        if made and not any(folder.iterdir()):
            folder.rmdir()


def _put(new: Path, place: Path, aside: Path) -> None:
    """Move into place; only files replace files in one step."""
    if os.path.lexists(place) and (new.is_dir() or place.is_dir()):
        place.rename(aside)
    new.replace(place)
