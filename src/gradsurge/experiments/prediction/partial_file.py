"""Files that are there whole or not at all, also after Ctrl-C."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_END = ".partial"


@contextmanager
def whole_files(*targets: Path) -> Iterator[tuple[Path, ...]]:
    """Give places beside the targets; what is written there takes their place at the end.

    If anything is raised, Ctrl-C among it, nothing is left and the targets stay as they were.
    """
    for target in targets:
        target.parent.mkdir(parents=True, exist_ok=True)
    beside = tuple(target.with_name(f".{target.name}{_END}") for target in targets)
    try:
        yield beside
        for part, target in zip(beside, targets, strict=True):
            part.replace(target)
    finally:
        for part in beside:
            part.unlink(missing_ok=True)


def remove_partial(folder: Path) -> None:
    """Remove what a killed run left."""
    for part in folder.glob(f".*{_END}"):
        part.unlink(missing_ok=True)
