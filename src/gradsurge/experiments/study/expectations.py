"""What we expected of surgery, held against the records of a study; what failed comes first.

Expected of each loss with surgery: better calibrated than the same loss without, at its Dice or
half a point below; after the closed form at least as well calibrated as cross-entropy, also as one
that the table of budgets gives more steps, since it learns more slowly; and better than the same
loss without surgery after temperature scaling, the question every reviewer asks: as it is, after
the closed form, and after a temperature of its own.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from gradsurge.experiments.recipes import Recipe
from gradsurge.experiments.result_table import Column
from gradsurge.experiments.runs.corrections import NONE
from gradsurge.experiments.study.record import Record
from gradsurge.experiments.study.tables.corrections import line_key
from gradsurge.experiments.study.tables.lines import View
from gradsurge.experiments.study.tables.profile_scores import CALIBRATION, DICE
from gradsurge.experiments.study.tables.significance import pair_of
from gradsurge.experiments.study.tables.table_rows import RowRecords, base_of, rows_of

TABLE = "corrections"
"""Expectations are checked on the numbers of this table."""
_MORE_STEPS = "budget"
HALF_A_POINT = 0.005
_DSC = DICE[0]
_VIEW = View("foreground")


@dataclass(frozen=True)
class Expectation:
    """One number that should not be above, or for Dice not far below, another.

    Attributes:
        of, against: variants, with their corrections.
        column: the score.
        found, limit: means over runs of the one and of the other.
        runs: in how many it holds against the run of the same seed or trial, and of how many.
    """

    of: str
    against: str
    column: Column
    found: float
    limit: float
    runs: tuple[int, int]

    @property
    def holds(self) -> bool:
        """Whether the means are as expected."""
        return _as_expected(self.column, self.found, self.limit)


def expectations_of(records: Sequence[Record], recipe: Recipe) -> list[Expectation]:
    """Return all that can be checked; none where the recipe has no table of corrections.

    Args:
        records: that its tables are made of.
        recipe: of the study.
    """
    if TABLE not in recipe.tables:
        return []
    rows = [row for row in rows_of(records, recipe, TABLE) if row.records]
    longer = rows_of(records, recipe, _MORE_STEPS) if _MORE_STEPS in recipe.tables else []
    entropies = [row for row in rows if row.variant.name == "ce"]
    entropies += [r for r in longer if r.records and r.variant.loss == "ce" and r.variant.share > 1]
    return [
        checked
        for row in rows
        for of, other, columns in _pairs(row, rows, entropies)
        for column in columns
        if (checked := _checked(of, other, column)) is not None
    ]


@dataclass(frozen=True)
class _Side:
    row: RowRecords
    correction: str = NONE

    @property
    def name(self) -> str:
        return line_key(self.row.variant.name, self.correction)

    def by_run(self, column: Column) -> dict[str, float]:
        # Masks are made of raw probabilities, whatever the correction.
        correction = NONE if column == _DSC else self.correction
        found = {pair_of(r): _VIEW.number(r, column.name, correction) for r in self.row.records}
        return {pair: value for pair, value in found.items() if value is not None}


def _pairs(
    row: RowRecords, rows: Sequence[RowRecords], entropies: Sequence[RowRecords]
) -> Iterator[tuple[_Side, _Side, Sequence[Column]]]:
    """Yield what is compared with what, and in which scores."""
    base = base_of(row, rows)
    if base is None:
        return
    yield _Side(row), _Side(base), (*CALIBRATION, _DSC)
    for other in entropies:
        if "equilibrium" in row.corrections:
            yield _Side(row, "equilibrium"), _Side(other), CALIBRATION
    if "temperature" in base.corrections:
        for correction in (NONE, "equilibrium", "temperature"):
            if correction in row.corrections:
                scaled = _Side(base, "temperature")
                yield _Side(row, correction), scaled, CALIBRATION


def _checked(of: _Side, other: _Side, column: Column) -> Expectation | None:
    ours, theirs = of.by_run(column), other.by_run(column)
    if not ours or not theirs:
        return None
    shared = ours.keys() & theirs.keys()
    held = sum(_as_expected(column, ours[pair], theirs[pair]) for pair in shared)
    found, limit = (math.fsum(side.values()) / len(side) for side in (ours, theirs))
    return Expectation(of.name, other.name, column, found, limit, (held, len(shared)))


def _as_expected(column: Column, found: float, limit: float) -> bool:
    return found >= limit - HALF_A_POINT if column == _DSC else found <= limit


def expectations_page(recipe: Recipe, checked: Sequence[Expectation]) -> str:
    """Return Markdown: what does not hold, then what holds.

    Args:
        recipe: of the study.
        checked: of its records.
    """
    failed = [one for one in checked if not one.holds]
    about = (
        f"{len(checked) - len(failed)} of {len(checked)} expectations hold on test cases, by "
        "means over runs. DSC may be half a point lower, all other scores must not be higher. "
        "Runs: in how many it holds against the run of the same seed, or of the same trial."
    )
    lines = [f"### What was expected: {recipe.title}", "", about]
    for title, some in (("Does not hold", failed), ("Holds", [o for o in checked if o.holds])):
        if some:
            heads = "| of | against | score | found | against | ratio | runs |"
            lines += ["", f"**{title}**", "", heads, "|---|---|---|---:|---:|---:|---:|"]
            lines += map(_line, some)
    return "\n".join(lines) + "\n"


def _line(one: Expectation) -> str:
    shown: Callable[[float], str] = (
        (lambda share: f"{100 * share:.2f}") if one.column == _DSC else (lambda v: f"{v:.4f}")
    )
    ratio = f"{one.found / one.limit:.2f}" if one.limit else "-"
    held, runs = one.runs
    cells = (one.of, one.against, one.column.title, shown(one.found), shown(one.limit), ratio)
    return f"| {' | '.join(cells)} | {held} of {runs} |"
