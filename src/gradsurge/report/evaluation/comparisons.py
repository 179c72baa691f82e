"""Paired tests between models, in numbers and in words."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from gradsurge.experiments.comparison import PairedComparison
from gradsurge.experiments.evaluation.result import Evaluation, ModelResult
from gradsurge.experiments.statistics import signed_rank_sum
from gradsurge.report.evaluation.numbers import finite, p_value
from gradsurge.report.evaluation.overview import ModelEntry, model_entries
from gradsurge.report.evaluation.titles import score_title

LEVEL = 0.05

Finding = Literal["lower", "higher", "split", "open", "untested", "nothing"]


@dataclass
class Pair:
    """Two models: their comparisons, and what is said of them.

    Attributes:
        said: finding -> scores, as a list in words. "lower" and "higher" are differences of the
            first model that stand after Holm's correction, as those in "split", where the ranks
            of the cases are on the other side than their mean; "open" ones do not stand,
            "untested" have too few cases, and "nothing" none at all.
    """

    first: ModelEntry
    second: ModelEntry
    rows: list[PairedComparison] = field(default_factory=list)
    said: dict[Finding, str] = field(default_factory=dict)

    @property
    def most_cases(self) -> int:
        """Cases of the score that has most."""
        return max(row.cases for row in self.rows)


def compared_pairs(evaluation: Evaluation) -> list[Pair]:
    """Return the pairs of models that were compared and are both on the page."""
    entries = {entry.name: entry for entry in model_entries(evaluation)}
    pairs: dict[tuple[str, str], Pair] = {}
    for row in evaluation.comparisons:
        if row.first in entries and row.second in entries:
            new = Pair(entries[row.first], entries[row.second])
            pairs.setdefault((row.first, row.second), new).rows.append(row)
    for pair in pairs.values():
        pair.said = _said(evaluation, pair)
    return list(pairs.values())


def _said(evaluation: Evaluation, pair: Pair) -> dict[Finding, str]:
    items: dict[Finding, list[str]] = {}
    for row in pair.rows:
        differences = _differences(evaluation, row)
        finding = _finding(row, differences)
        agreeing = _agreeing(row, differences)
        items.setdefault(finding, []).append(_item(row, finding, agreeing, pair.first.look.letter))
    return {finding: _listed(texts) for finding, texts in items.items()}


def _finding(row: PairedComparison, differences: Sequence[float] | None) -> Finding:
    side = _side(row)
    if row.cases == 0:
        return "nothing"
    if row.p_value is None or row.adjusted_p_value is None:
        return "untested"
    if row.adjusted_p_value >= LEVEL or side is None:
        return "open"
    ranks = 0.0 if differences is None else signed_rank_sum(differences)
    if (ranks > 0 and side == "lower") or (ranks < 0 and side == "higher"):
        return "split"
    return side


def _side(row: PairedComparison) -> Literal["lower", "higher"] | None:
    """Return on which side the first model's mean is; None if on neither, or unknown."""
    mean = row.difference.mean
    if mean is None or not finite(mean) or mean == 0:
        return None
    return "lower" if mean < 0 else "higher"


def _differences(evaluation: Evaluation, row: PairedComparison) -> list[float] | None:
    """Return first less second of each case; None if they are not those that were compared."""
    first, second = (
        _by_case(evaluation, evaluation.models[name], row.metric)
        for name in (row.first, row.second)
    )
    shared = first.keys() & second.keys()
    if len(shared) != row.cases:
        return None
    return [0.0 if first[c] == second[c] else first[c] - second[c] for c in shared]


def _agreeing(row: PairedComparison, differences: Sequence[float] | None) -> int | None:
    """Count cases on the side of the mean."""
    if differences is None or _side(row) is None:
        return None
    sign = -1 if _side(row) == "lower" else 1
    return sum(sign * difference > 0 for difference in differences)


def _by_case(evaluation: Evaluation, model: ModelResult, metric: str) -> dict[str, float]:
    where = (evaluation.settings.regions[0], evaluation.headline)
    rows = [row for row in model.rows if (row.region, row.label) == where]
    values = {row.case: row.scores.get(metric, math.nan) for row in rows}
    return {case: value for case, value in values.items() if not math.isnan(value)}


def _item(row: PairedComparison, finding: Finding, agreeing: int | None, letter: str) -> str:
    """Name a score, and say in how many cases the difference points the same way."""
    title, side = score_title(row.metric), _side(row)
    notes = []
    if agreeing is not None:
        side_said = "" if finding in ("lower", "higher") else f"{side} for {letter} "
        few = "only " if 2 * agreeing <= row.cases else ""
        notes.append(f"{side_said}in {few}{agreeing} of {row.cases} cases")
    if finding == "open":
        p = p_value(row.adjusted_p_value)
        notes.append(f"p {p if p.startswith('<') else f'= {p}'}")
    return f"{title} ({', '.join(notes)})" if notes else title


def _listed(texts: Sequence[str]) -> str:
    """Join as a sentence does.

    >>> _listed(["NLL", "Brier", "Dice"])
    'NLL, Brier and Dice'
    """
    return " and ".join(filter(None, (", ".join(texts[:-1]), texts[-1])))
