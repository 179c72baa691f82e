"""What tells runs apart: the names of their folders, with parents where these are alike."""

from collections.abc import Sequence
from pathlib import Path


def distinct_names(folders: Sequence[Path]) -> list[str]:
    """Return as many last parts of each path as tell it from the others.

    >>> distinct_names([Path("a/dice"), Path("b/dice"), Path("b/ce")])
    ['a/dice', 'b/dice', 'ce']
    """
    paths = [folder.resolve() for folder in folders]
    return [_shortest(path, [other for other in paths if other != path]) for path in paths]


def _shortest(path: Path, others: Sequence[Path]) -> str:
    numbers = range(1, len(path.parts))
    tails = (path.parts[-number:] for number in numbers)
    found = (t for t in tails if all(other.parts[-len(t) :] != t for other in others))
    return "/".join(next(found, (str(path),)))
