"""Statistics between models over cases.

The unit is a case (a patient, an image), never a voxel: the voxels of a case hang together, and
counting them as independent would make any difference significant.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
MINIMUM_PAIRS = 6
"""With fewer pairs the exact two-sided test cannot reach p < 0.05, whatever the data."""

_BATCH = 1 << 22  # numbers drawn in one go
# Differences below this part of the values are rounding: two orders of summation, not two models.
ROUNDING = 1e-12


@dataclass(frozen=True)
class MeanInterval:
    """A mean over cases and its interval; None where the data give none."""

    cases: int
    mean: float | None
    low: float | None
    high: float | None


def bootstrap_mean(
    values: ArrayLike, *, confidence: float = 0.95, resamples: int = 9999, seed: int = 0
) -> MeanInterval:
    """Return the mean over cases with its bias-corrected and accelerated bootstrap interval.

    The same values in the same order and the same seed give the same interval. Equal values have
    an interval of no width. Fewer than two values, or an infinite one, have none.

    >>> bootstrap_mean([0.7, 0.7, 0.7])
    MeanInterval(cases=3, mean=0.7, low=0.7, high=0.7)
    """
    x = _numbers("values", values)
    if not 0 < confidence < 1:
        raise ValueError(f"confidence: expected a number between 0 and 1, got {confidence}")
    if resamples < 100:
        raise ValueError(f"resamples: expected at least 100, got {resamples}")
    mean = mean_over(x)
    if len(x) < 2 or mean is None:
        return MeanInterval(len(x), mean, None, None)
    if np.ptp(x) <= ROUNDING * np.abs(x).max():
        return MeanInterval(len(x), mean, mean, mean)
    low, high = _bca(x, confidence, resamples, seed)
    return MeanInterval(len(x), mean, low, high)


def wilcoxon_p_value(differences: ArrayLike) -> float | None:
    """Return the two-sided p-value of Wilcoxon's signed-rank test on paired differences.

    Zero differences are dropped; if all are zero, p is 1. Fewer than `MINIMUM_PAIRS` pairs are not
    tested: None. Infinite differences take the highest ranks. SciPy computes small samples exactly
    and large ones by the normal approximation.

    >>> wilcoxon_p_value([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    0.03125
    """
    from scipy.stats import wilcoxon

    d = _numbers("differences", differences)
    if len(d) < MINIMUM_PAIRS:
        return None
    d = d[d != 0]
    return float(wilcoxon(d).pvalue) if len(d) else 1.0


def signed_rank_sum(differences: ArrayLike) -> float:
    """Return the sum of the signed ranks: the side on which Wilcoxon's test sees the differences.

    It need not be the side of their mean, which one case far off can turn around.

    >>> signed_rank_sum([0.1, 0.2, 0.3, 0.4, -9.0])
    5.0
    """
    from scipy.stats import rankdata

    d = _numbers("differences", differences)
    d = d[d != 0]
    return float((np.sign(d) * rankdata(np.abs(d))).sum())


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm's adjusted p-values: p of rank i of m times (m - i + 1), rising, at most 1.

    Rejecting where the adjusted value is below a keeps the chance of any false rejection below a.

    >>> [round(p, 4) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, np.float64)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"p_values: expected a list of numbers in [0, 1], got {p_values}")
    order = np.argsort(p, kind="stable")
    adjusted: Floats = np.empty_like(p)
    scaled = p[order] * np.arange(len(p), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return [float(x) for x in adjusted]


def _numbers(name: str, values: ArrayLike) -> Floats:
    x = np.asarray(values, np.float64)
    if x.ndim != 1 or np.isnan(x).any():
        raise ValueError(
            f"{name}: expected a number for each case, without NaN, got shape {x.shape} with "
            f"{np.isnan(x).sum()} NaN"
        )
    return x


def mean_over(x: Floats) -> float | None:
    """Return the mean of the cases; None without any, or with an infinite one."""
    return math.fsum(x) / len(x) if len(x) and np.isfinite(x).all() else None


def _bca(x: Floats, confidence: float, resamples: int, seed: int) -> tuple[float, float]:
    from scipy.stats import bootstrap

    interval = bootstrap(
        (x,),
        np.mean,
        confidence_level=confidence,
        n_resamples=resamples,
        batch=max(_BATCH // len(x), 1),
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return float(interval.low), float(interval.high)
