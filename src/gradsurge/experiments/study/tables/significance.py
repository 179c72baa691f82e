"""Whether one row is better than another by more than chance: a paired test, at 0.01."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gradsurge.experiments.recipes.requests import SEED
from gradsurge.experiments.result_table import Better
from gradsurge.experiments.statistics import ROUNDING, signed_rank_sum, wilcoxon_p_value
from gradsurge.experiments.study.record import Record
from gradsurge.experiments.study.tables.table_rows import Number

LEVEL = 0.01
FEWEST_PAIRS = 8
"""With fewer, the two-sided p-value is 0.0156 at best, whatever the data: 2 / 2^7."""


@dataclass(frozen=True)
class PairedTest:
    """Wilcoxon's signed-rank test of one row against another.

    Attributes:
        over: what is paired: "cases" (values are means over the runs) or "runs" (by seed; those of
            a random search by trial, which is the same point for all losses).
        pairs: how many.
        p_value: two-sided; None where there are too few pairs.
        better: whether the first row is better, on average over the pairs and by their ranks: where
            a few pairs turn the mean around, the test speaks for the other side.
    """

    over: Literal["cases", "runs"]
    pairs: int
    p_value: float | None
    better: bool

    @property
    def star(self) -> bool:
        """Whether the first row is significantly better."""
        return self.better and self.p_value is not None and self.p_value < LEVEL


@dataclass(frozen=True)
class RunValues:
    """A score of one run: what pairs it with a run of another row, and case -> value."""

    pair: str
    cases: Mapping[str, float]

    @classmethod
    def of(cls, record: Record, values: Sequence[Number]) -> "RunValues":
        """Return the values of a record's cases, those without one left out."""
        pairs = zip(record.measured.cases, values, strict=True)
        kept = {case: v for case, v in pairs if v is not None and math.isfinite(v)}
        return cls(pair_of(record), kept)


def pair_of(record: Record) -> str:
    """Return what a run has in common with one run of every other row: its seed, or its trial."""
    return f"seed {record.seed}" if SEED in record.point else record.run


def paired_test(one: Sequence[RunValues], other: Sequence[RunValues], better: Better) -> PairedTest:
    """Test the runs of a row against those of another.

    Cases are the pairs if there are at least `FEWEST_PAIRS` that both rows were measured on, with
    the mean over the runs; otherwise runs of the same seed or trial, with the mean over their
    cases.

    Args:
        one: runs of the row that may get a star.
        other: runs of the row it is compared with.
        better: which way is better.
    """
    mine, its = case_means(one), case_means(other)
    shared = [case for case in mine if case in its]
    if len(shared) >= FEWEST_PAIRS:
        return _test("cases", [(mine[c], its[c]) for c in shared], better)
    runs, its_runs = _run_means(one), _run_means(other)
    shared = [pair for pair in runs if pair in its_runs]
    return _test("runs", [(runs[pair], its_runs[pair]) for pair in shared], better)


def _test(
    over: Literal["cases", "runs"], pairs: list[tuple[float, float]], better: Better
) -> PairedTest:
    values = np.array(pairs, np.float64).reshape(-1, 2)
    differences = values[:, 0] - values[:, 1]
    scale = float(np.abs(values).max(initial=0.0)) * ROUNDING
    if scale > 0:  # so that equal differences tie, whatever their last bits
        differences = np.round(differences, -math.floor(math.log10(scale)))
    gains = -differences if better == "lower" else differences
    wins = bool(gains.sum() > 0 and signed_rank_sum(gains) > 0)
    p_value = wilcoxon_p_value(differences) if len(pairs) >= FEWEST_PAIRS else None
    return PairedTest(over, len(pairs), p_value, wins)


def case_means(runs: Sequence[RunValues]) -> dict[str, float]:
    """Return case -> mean over the runs that have a value for it."""
    found: dict[str, list[float]] = {}
    for run in runs:
        for case, value in run.cases.items():
            found.setdefault(case, []).append(value)
    return {case: math.fsum(values) / len(values) for case, values in found.items()}


def _run_means(runs: Sequence[RunValues]) -> dict[str, float]:
    """Return seed or trial -> mean over the cases."""
    return {run.pair: math.fsum(run.cases.values()) / len(run.cases) for run in runs if run.cases}
