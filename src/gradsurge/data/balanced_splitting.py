"""Splits that are alike in what the cases show: size and number of lesions, say."""

from collections.abc import Mapping, Sequence

from gradsurge.data.case_files import natural
from gradsurge.data.splitting import SPLITS, Sizes, by_chance

# Neighbours in rank among which chance decides; larger blocks are more random and less alike.
_BLOCK = 8


def divide_balanced(
    strata: Mapping[str, Sequence[float]], sizes: Sizes, seed: int
) -> dict[str, list[str]]:
    """Return split -> names of cases, each split with its share of every rank.

    Cases are ranked by what is measured of them, shuffled among neighbours, and dealt out like
    cards: each goes to the split that lags most behind its share.

    Args:
        strata: case -> what it is ranked by, the most important first.
        sizes: split -> number of cases; cases beyond their sum are in no split.
        seed: of the shuffling.

    >>> cases = {f"case {n}": (float(n),) for n in range(40)}
    >>> split = divide_balanced(cases, {"train": 20, "validation": 10, "test": 10}, seed=0)
    >>> [len(names) for names in split.values()]
    [20, 10, 10]
    """
    drawn = by_chance(list(strata), seed)[: sum(sizes.values())]
    ranked = sorted(drawn, key=lambda name: (*strata[name], natural(name)))
    blocks = [ranked[i : i + _BLOCK] for i in range(0, len(ranked), _BLOCK)]
    split: dict[str, list[str]] = {s: [] for s in SPLITS}
    shuffled = [name for block in blocks for name in by_chance(block, seed)]
    for dealt, name in enumerate(shuffled, start=1):
        due = {s: sizes[s] * dealt / len(ranked) - len(split[s]) for s in sizes}
        open_to = [s for s in sizes if len(split[s]) < sizes[s]]
        split[max(open_to, key=lambda s: due[s])].append(name)
    return {s: sorted(names, key=natural) for s, names in split.items()}
