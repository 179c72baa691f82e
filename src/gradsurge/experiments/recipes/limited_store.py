"""Fewer cases of a store, for a small scale."""

from collections.abc import Mapping
from dataclasses import replace

from gradsurge.data.store import Store


def limit_cases(store: Store, cases: Mapping[str, int] | None) -> Store:
    """Return the store with no more than so many cases in its splits.

    Those kept are spread evenly over each split, so that a larger number of them holds other
    kinds of cases, too; the folder on disk stays as it is. `plan_run` on what is returned makes
    runs of these cases.

    Args:
        store: of any number of cases.
        cases: split -> most cases; None for all.
    """
    if cases is None:
        return store
    splits = {
        split: _spread(names, cases.get(split, len(names))) for split, names in store.splits.items()
    }
    return Store(store.path, replace(store.dataset, splits=splits))


def _spread(names: list[str], most: int) -> list[str]:
    """Return so many names, evenly spaced.

    >>> _spread(["a", "b", "c", "d", "e"], 2)
    ['a', 'c']
    """
    if most >= len(names):
        return names
    return [names[place * len(names) // most] for place in range(most)]
