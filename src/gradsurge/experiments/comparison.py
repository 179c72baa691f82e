"""Two models on the same cases: paired, tested, corrected for the number of tests."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from gradsurge.experiments.statistics import (
    ROUNDING,
    Floats,
    MeanInterval,
    bootstrap_mean,
    holm,
    mean_over,
    wilcoxon_p_value,
)

Scores = Mapping[str, Mapping[str, float | None]]
"""Values of one model: metric -> case -> value; None or NaN where there is none."""


@dataclass(frozen=True)
class PairedComparison:
    """Two models on one metric, over the cases that both have.

    Attributes:
        metric: name of the metric.
        first: name of a model.
        second: name of the other.
        cases: pairs of values compared.
        dropped: pairs left out because a value is missing or NaN.
        unpaired: cases that only one of the two has.
        first_mean: mean of the first over the pairs; None without pairs or with an infinite value.
        second_mean: the same of the second.
        difference: mean of first - second, with its bootstrap interval.
        p_value: of Wilcoxon's signed-rank test; None below `MINIMUM_PAIRS`.
        adjusted_p_value: the same by Holm, over all tests of one `compare`.
    """

    metric: str
    first: str
    second: str
    cases: int
    dropped: int
    unpaired: int
    first_mean: float | None
    second_mean: float | None
    difference: MeanInterval
    p_value: float | None
    adjusted_p_value: float | None = None


def compare(
    models: Mapping[str, Scores],
    *,
    confidence: float = 0.95,
    resamples: int = 9999,
    seed: int = 0,
) -> list[PairedComparison]:
    """Compare every pair of models on every metric that both have, case by case.

    Args:
        models: name -> metric -> case -> value.
        confidence: of the bootstrap intervals.
        resamples: of the bootstrap.
        seed: of the bootstrap; each comparison starts from it, so none depends on the others.

    The p-values of all pairs and metrics are one family for Holm's correction.
    """
    found = [
        _compare_pair(metric, pair, models, confidence, resamples, seed)
        for pair in combinations(models, 2)
        for metric in models[pair[0]]
        if metric in models[pair[1]]
    ]
    tested = [i for i, c in enumerate(found) if c.p_value is not None]
    adjusted = holm([p for c in found if (p := c.p_value) is not None])
    for i, p in zip(tested, adjusted, strict=True):
        found[i] = replace(found[i], adjusted_p_value=p)
    return found


def _compare_pair(
    metric: str,
    pair: tuple[str, str],
    models: Mapping[str, Scores],
    confidence: float,
    resamples: int,
    seed: int,
) -> PairedComparison:
    first, second = (models[name][metric] for name in pair)
    shared = sorted(first.keys() & second.keys())
    values = np.array([(first[c], second[c]) for c in shared], np.float64).reshape(-1, 2)
    a, b = values[~np.isnan(values).any(axis=1)].T
    d = _differences(a, b)
    return PairedComparison(
        metric=metric,
        first=pair[0],
        second=pair[1],
        cases=len(d),
        dropped=len(shared) - len(d),
        unpaired=len(first.keys() ^ second.keys()),
        first_mean=mean_over(a),
        second_mean=mean_over(b),
        difference=bootstrap_mean(d, confidence=confidence, resamples=resamples, seed=seed),
        p_value=wilcoxon_p_value(d),
    )


def _differences(a: Floats, b: Floats) -> Floats:
    """Return a - b, rounded so that equal differences tie; 0 where both are infinite alike."""
    d = np.subtract(a, b, out=np.zeros_like(a), where=a != b)
    finite = np.abs(np.concatenate((a, b)))
    scale = finite.max(initial=0.0, where=np.isfinite(finite))
    if scale == 0:
        return d
    return np.round(d, -math.floor(math.log10(scale * ROUNDING))).astype(np.float64)
