"""Which cases a figure shows, where nobody named them."""

from collections.abc import Callable, Sequence

import torch

from gradsurge.data.case_error import shown
from gradsurge.data.store import Store
from gradsurge.experiments.figure_data.confident_errors import CONFIDENT, structure_errors
from gradsurge.experiments.figure_data.network_on_store import NetworkOnStore
from gradsurge.experiments.runs.corrections import NONE

MOST = 8
"""How many cases are looked at to find some with confident errors."""


def cases_to_look_at(store: Store, named: Sequence[str]) -> list[str]:
    """Return the named cases, or the first of those that no training has seen.

    Args:
        store: where they are.
        named: what was asked for; empty for the test split, or validation where there is none.

    Raises:
        ValueError: the store has no such case, or none at all.
    """
    there = store.cases
    for name in named:
        if name not in there:
            some = ", ".join(there[:3])
            raise ValueError(
                f"case: {shown(store.path)} has no {name!r}; it has {len(there)} cases: {some}, ..."
            )
    if named:
        return list(named)
    splits = store.splits
    unseen = splits.get("test") or splits.get("validation") or there
    if not unseen:
        raise ValueError(f"{shown(store.path)}: the store has no case; prepare it again")
    return unseen[:MOST]


def most_confidently_wrong(
    network: NetworkOnStore,
    cases: Sequence[str],
    correction: str = NONE,
    on_case: Callable[[str], object] = lambda _: None,
) -> list[str]:
    """Return cases, those with the most confident errors first; a single one is not looked at.

    Args:
        network: that predicts them.
        cases: their names.
        correction: of the probabilities.
        on_case: hears of each case before it is predicted.
    """
    if len(cases) < 2:
        return list(cases)
    counts = {}
    for case in cases:
        on_case(case)
        label = torch.from_numpy(network.store.case(case).read_label())
        errors = structure_errors(network.task, network.probabilities(case, correction), label)
        counts[case] = int((errors >= CONFIDENT).sum())
    return sorted(cases, key=lambda case: -counts[case])
