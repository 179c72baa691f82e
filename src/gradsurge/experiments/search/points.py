"""The points of a search: drawn from ranges, or every combination of a grid."""

import hashlib
import itertools
from typing import TYPE_CHECKING, Any

from gradsurge.experiments.recipes import Choice, Range, Search, Space
from gradsurge.experiments.search.quiet_optuna import quiet_optuna

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

_PLAIN = (bool, int, float, str, type(None))


def draw_points(search: Search, space: Space) -> list[dict[str, Any]]:
    """Return the points of a search, the same ones every time.

    Random ones come from Optuna's RandomSampler, a stream of its own for each name. So the first
    10 of 25 are the 10 of a search of 10, and all losses are tried with the same learning rates,
    whatever else is searched for some of them.

    Args:
        search: how many, and the seed.
        space: what is searched.

    Raises:
        ValueError: a grid has a range, which has no end of values.

    >>> grid = Search("grid", trials=2, keep=1)
    >>> draw_points(grid, {"training.learning_rate": Choice((0.001, 0.01))})
    [{'training.learning_rate': 0.001}, {'training.learning_rate': 0.01}]
    """
    if search.kind == "grid":
        return _all_combinations(space)
    columns = {name: _draw(name, part, search) for name, part in space.items()}
    return [{name: column[i] for name, column in columns.items()} for i in range(search.trials)]


def distributions_of(space: Space) -> dict[str, "BaseDistribution"]:
    """Return a space as Optuna's own tools know it, without choices among lists and the like."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution

    found: dict[str, BaseDistribution] = {}
    for name, part in space.items():
        if isinstance(part, Range):
            found[name] = FloatDistribution(part.low, part.high, log=part.scale == "log")
        elif all(isinstance(value, _PLAIN) for value in part.values):
            found[name] = CategoricalDistribution(part.values)
    return found


def _all_combinations(space: Space) -> list[dict[str, Any]]:
    columns: list[tuple[Any, ...]] = []
    for name, part in space.items():
        if not isinstance(part, Choice):
            raise ValueError(
                f"{name}: a grid needs a list of values, got a range from {part.low:g} to "
                f"{part.high:g}; list values, or search at random"
            )
        columns.append(part.values)
    return [dict(zip(space, values, strict=True)) for values in itertools.product(*columns)]


def _draw(name: str, part: Range | Choice, search: Search) -> list[Any]:
    import optuna
    from optuna.distributions import FloatDistribution, IntDistribution

    distribution: BaseDistribution
    if isinstance(part, Range):
        distribution = FloatDistribution(part.low, part.high, log=part.scale == "log")
    else:  # Optuna's own choices are of plain values only
        distribution = IntDistribution(0, len(part.values) - 1)
    sampler = optuna.samplers.RandomSampler(seed=_stream(search.seed, name))
    with quiet_optuna():
        study = optuna.create_study(sampler=sampler)
        drawn = [study.ask({name: distribution}).params[name] for _ in range(search.trials)]
    return drawn if isinstance(part, Range) else [part.values[i] for i in drawn]


def _stream(seed: int, name: str) -> int:
    """Return the seed of a name's own stream, 32 bits.

    >>> _stream(0, "training.momentum") != _stream(0, "training.learning_rate")
    True
    """
    return int.from_bytes(hashlib.sha256(f"{seed}/{name}".encode()).digest()[:4], "big")
