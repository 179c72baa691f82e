"""Probability maps of several runs on the same cases, where the first one is surely wrong."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from gradsurge.data.store import Store
from gradsurge.experiments.figure_data.confident_errors import (
    CONFIDENT,
    choose_structure,
    structure_errors,
)
from gradsurge.experiments.figure_data.interesting_cases import (
    cases_to_look_at,
    most_confidently_wrong,
)
from gradsurge.experiments.figure_data.network_on_store import NetworkOnStore
from gradsurge.experiments.figure_data.shown_case import ShownCase, show_case
from gradsurge.experiments.runs.corrections import NONE
from gradsurge.experiments.runs.distinct_names import distinct_names


@dataclass(frozen=True)
class MapName:
    """What stands above a map.

    Attributes:
        run: the name of the run's folder (`distinct_names`), where the loss alone does not tell
            runs apart; or empty.
        loss: of its training.
        correction: of the probabilities; "none" for none.
    """

    run: str
    loss: str
    correction: str


@dataclass(frozen=True)
class ComparedMaps:
    """A slice of a case with the maps of all runs.

    Attributes:
        shown: the slice; its errors and marks are those of the first run.
        maps: probability of the structure by run, (H, W).
        errors: mean |y - p| of each run over the first one's confident errors in the slice; NaN
            where it has none.
    """

    shown: ShownCase
    maps: Mapping[MapName, NDArray[np.float32]]
    errors: Mapping[MapName, float]


def compare_maps(
    networks: Sequence[NetworkOnStore],
    cases: Sequence[str] = (),
    number: int = 2,
    correction: str = NONE,
    structure: str | None = None,
    on_case: Callable[[str], object] = lambda _: None,
) -> list[ComparedMaps]:
    """Return the maps of all runs on some cases.

    Args:
        networks: of one store; the first is the one whose confident errors are marked.
        cases: their names; empty for those of the test split, among the first eight, that the
            first run is most often surely wrong about.
        number: of cases, where they are not named.
        correction: "none", "auto" for each run's own choice, or the name of one.
        structure: whose probability is shown; None for the one with the most confident errors.
        on_case: hears of each case before it is predicted.

    Raises:
        ValueError: there is no run, no such case, structure or correction, or a case is damaged.
    """
    if not networks:
        raise ValueError("networks: expected at least one run, got none")
    if len({network.run.folder.resolve() for network in networks}) < len(networks):
        raise ValueError("runs: the same run was given twice; name each once")
    names = dict(zip(map_names(networks, correction), networks, strict=True))
    first, store = networks[0], networks[0].store
    chosen = cases_to_look_at(store, cases)
    if not cases and len(chosen) > number:
        chosen = most_confidently_wrong(first, chosen, correction, on_case)[:number]
    found = []
    for case in chosen:
        on_case(case)
        found.append(_compared(store, names, case, correction, structure))
    return found


def map_names(networks: Sequence[NetworkOnStore], correction: str) -> list[MapName]:
    """Return what tells the runs apart: the loss, and the folder where losses are alike."""
    losses = Counter(network.run.config.loss for network in networks)
    folders = distinct_names([network.run.folder for network in networks])
    return [
        MapName(
            run=folder if losses[n.run.config.loss] > 1 else "",
            loss=n.run.config.loss,
            correction=n.correction_name(correction),
        )
        for n, folder in zip(networks, folders, strict=True)
    ]


def _compared(
    store: Store,
    networks: Mapping[MapName, NetworkOnStore],
    case: str,
    correction: str,
    structure: str | None,
) -> ComparedMaps:
    label = torch.from_numpy(store.case(case).read_label())
    maps = {name: n.probabilities(case, correction) for name, n in networks.items()}
    first = next(iter(networks))
    task = networks[first].task
    errors = structure_errors(task, maps[first], label)
    k = choose_structure(task, errors, structure)
    truth = task.foreground(label)[k]
    shown = show_case(store, case, task.names[k], errors[k], truth, None)
    planes = {name: shown.cut.plane(p[k].numpy()) for name, p in maps.items()}
    sure = shown.errors >= CONFIDENT
    return ComparedMaps(shown, planes, {n: _error(p, shown.label, sure) for n, p in planes.items()})


def _error(
    probability: NDArray[np.float32], label: NDArray[np.bool_], where: NDArray[np.bool_]
) -> float:
    if not where.any():
        return float("nan")
    return float(np.abs(label - probability.astype(np.float64))[where].mean())
