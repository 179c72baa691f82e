"""Training, validation and test cases: seeded, and no group (patient) in two of them.

The order of chance comes from a hash of the seed and the group's name. So a split depends neither
on the order of files nor on a generator of random numbers that changes between versions.
"""

import hashlib
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from gradsurge.data.case_files import natural

if TYPE_CHECKING:  # the data sets import this module
    from gradsurge.data.datasets.raw_case import RawCase

SPLITS = ("train", "validation", "test")
Sizes = Mapping[str, int]

_LOG = logging.getLogger(__name__)


def divide(cases: Sequence["RawCase"], shares: Sizes, seed: int) -> dict[str, list[str]]:
    """Return split -> names of cases, in proportion to ``shares``, by chance.

    Cases published as "validation" or "test" stay there. Those published as "train" give some to
    validation if nothing is published for it; cases without a word go to whatever is not fixed.
    """
    return _divide(cases, shares, seed, apportioned)


def divide_as_published(
    name: str, cases: Sequence["RawCase"], sizes: Sizes, seed: int
) -> dict[str, list[str]]:
    """Return split -> names of cases, as many as ``sizes`` says where there are enough.

    Cases beyond the sum of the sizes are in no split, fewer cases are divided in proportion; both
    is logged, see `note_other_sizes`.
    """
    split = _divide(cases, sizes, seed, published_sizes)
    note_other_sizes(name, len(cases), split, sizes)
    return split


def published_sizes(count: int, sizes: Sizes) -> dict[str, int]:
    """Return the sizes themselves, or their proportions where there are fewer cases."""
    return dict(sizes) if count >= sum(sizes.values()) else apportioned(count, sizes)


def note_other_sizes(
    name: str, count: int, split: Mapping[str, Sequence[str]], sizes: Sizes
) -> None:
    """Log a warning, one line that begins with ``name``, where a split is not as published."""
    got, wanted = ([len(split[s]) for s in sizes], list(sizes.values()))
    if (got, count) != (wanted, sum(wanted)):
        _LOG.warning(
            "%s: %d cases where %d are published: %s instead of %s for %s, %d prepared but in no "
            "split",
            *(name, count, sum(wanted), _listed(got), _listed(wanted), " / ".join(sizes)),
            count - sum(got),
        )


def apportioned(count: int, shares: Sizes) -> dict[str, int]:
    """Return whole numbers in proportion that sum to ``count``, none 0 if there are enough.

    >>> apportioned(10, {"train": 64, "validation": 16, "test": 20})
    {'train': 6, 'validation': 2, 'test': 2}
    """
    whole = sum(shares.values())
    exact = {s: count * share / whole for s, share in shares.items()}
    sizes = {s: int(e) for s, e in exact.items()}
    for s in sorted(shares, key=lambda s: sizes[s] - exact[s])[: count - sum(sizes.values())]:
        sizes[s] += 1
    for s in shares:
        largest = max(sizes, key=lambda other: sizes[other])
        if sizes[s] == 0 and sizes[largest] > 1:
            sizes[s], sizes[largest] = 1, sizes[largest] - 1
    return sizes


def by_chance(names: Sequence[str], seed: int) -> list[str]:
    """Return the names in an order that depends on them and the seed alone."""
    return sorted(names, key=lambda n: hashlib.sha256(f"{seed}:{n}".encode()).digest())


def _divide(
    cases: Sequence["RawCase"],
    sizes: Sizes,
    seed: int,
    sizes_of: Callable[[int, Sizes], dict[str, int]],
) -> dict[str, list[str]]:
    split = {s: [c.name for c in cases if c.split == s and s != "train"] for s in SPLITS}
    free = [s for s in SPLITS if s in sizes and not split[s]]
    for published, open_to in (("train", [s for s in free if s != "test"]), (None, free)):
        pool = [c for c in cases if c.split == published]
        if pool:
            counts = sizes_of(len(pool), {s: sizes[s] for s in open_to})
            for s, names in _fill(pool, counts, seed).items():
                split[s] += names
    return {s: sorted(names, key=natural) for s, names in split.items()}


def _fill(pool: Sequence["RawCase"], counts: Sizes, seed: int) -> dict[str, list[str]]:
    """Return split -> names; whole groups, as near to the counts as groups allow."""
    groups: dict[str, list[str]] = {}
    for case in pool:
        groups.setdefault(case.group, []).append(case.name)
    order = by_chance(list(groups), seed)
    everything = sum(counts.values()) >= len(pool)
    filled: dict[str, list[str]] = {}
    # Training, the largest, comes last and takes the rest: there a group too many matters least.
    turns = sorted((s for s in counts if counts[s]), key=lambda s: (s == "train", counts[s]))
    for waiting, s in zip(range(len(turns) - 1, -1, -1), turns, strict=True):
        chosen = _summing_to(counts[s], order, groups)
        if s == "train" and everything:
            chosen = order
        elif len(order) - len(chosen) < waiting:  # one group for each split still to come
            chosen = chosen[: max(0, len(order) - waiting)]
        order = [g for g in order if g not in set(chosen)]
        filled[s] = [name for g in chosen for name in groups[g]]
    return filled


def _summing_to(count: int, order: Sequence[str], groups: Mapping[str, list[str]]) -> list[str]:
    """Return groups whose sizes sum as near to ``count`` as possible, the earliest such."""
    if count == 0 or not order:
        return []
    most = count + max(len(groups[g]) for g in order)
    reached: dict[int, tuple[str, ...]] = {0: ()}
    for group in order:
        for total, chosen in list(reached.items()):
            new = total + len(groups[group])
            if new <= most and new not in reached:
                reached[new] = (*chosen, group)
        if count in reached:
            break
    return list(reached[min(reached, key=lambda total: (total == 0, abs(total - count), total))])


def _listed(numbers: Sequence[int]) -> str:
    return " / ".join(map(str, numbers))
