"""Lines of a table of scores: a variant after a correction, and what it is compared with."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gradsurge.experiments.evaluation.settings import Profile
from gradsurge.experiments.result_table import Cell, Column, TableRow
from gradsurge.experiments.runs.corrections import NONE
from gradsurge.experiments.study.record import Record
from gradsurge.experiments.study.tables.profile_scores import DSC, OWN_DSC, by_case, score
from gradsurge.experiments.study.tables.significance import (
    FEWEST_PAIRS,
    LEVEL,
    PairedTest,
    RunValues,
    paired_test,
)
from gradsurge.experiments.study.tables.table_rows import Number, RowRecords, cell_of, group_of

_PER_CENT = {DSC: 100.0, OWN_DSC: 100.0}


@dataclass(frozen=True)
class Line:
    """A line of a table.

    Attributes:
        key: unique in its block.
        title: what a reader sees.
        row: the variant and its runs.
        correction: of the probabilities.
        base: what it is compared with.
    """

    key: str
    title: str
    row: RowRecords
    correction: str = NONE
    base: "Line | None" = None

    def row_of(self, cells: Mapping[str, Cell]) -> TableRow:
        """Return the row of a table with these cells."""
        base = None if self.base is None else self.base.key
        return TableRow(self.key, self.title, cells, group_of(self.row.variant), base)


@dataclass(frozen=True)
class View:
    """Which scores of which voxels a table shows."""

    profile: Profile
    region: str = "all"

    def number(self, record: Record, column: str, correction: str) -> Number:
        """Return the number of a column."""
        where = {"correction": correction, "region": self.region}
        return score(record, column, self.profile, **where)

    def by_case(self, record: Record, column: str, correction: str) -> Sequence[Number] | None:
        """Return the numbers of the cases behind it."""
        where = {"correction": correction, "region": self.region}
        return by_case(record, column, self.profile, **where)


def table_row(
    line: Line, columns: Sequence[Column], view: View, tests: list[PairedTest]
) -> TableRow:
    """Return a row with means, deviations and stars.

    Args:
        line: what it is of.
        columns: of the table.
        view: which scores.
        tests: takes the tests that were made.
    """
    cells: dict[str, Cell] = {}
    for column in columns:
        name = column.name
        if name in _PER_CENT and line.correction != NONE:
            continue  # masks are made of raw probabilities
        values = line.row.values(view.number, name, line.correction)
        test = _test(line, column, view)
        if test is not None:
            tests.append(test)
        star = test is not None and test.star and _is_better(line, column, view, values)
        cells[name] = cell_of(values, star=star, scale=_PER_CENT.get(name, 1.0))
    return line.row_of(cells)


def _test(line: Line, column: Column, view: View) -> PairedTest | None:
    """Return the test of a cell; None where there is nothing to compare, or no values of cases."""
    if line.base is None or column.better is None:
        return None
    one, other = (run_values(side, column.name, view) for side in (line, line.base))
    return paired_test(one, other, column.better) if one and other else None


def _is_better(line: Line, column: Column, view: View, values: Sequence[float]) -> bool:
    """Tell whether the shown number is better too: pooled scores may differ from those of cases."""
    base = line.base
    its = [] if base is None else base.row.values(view.number, column.name, base.correction)
    if not values or not its:
        return False
    gap = math.fsum(values) / len(values) - math.fsum(its) / len(its)
    return gap < 0 if column.better == "lower" else gap > 0


def run_values(line: Line, column: str, view: View) -> list[RunValues]:
    """Return the values of all runs of a line; none at all if one run has not kept them."""
    kept = [(r, view.by_case(r, column, line.correction)) for r in line.row.records]
    found = [RunValues.of(r, values) for r, values in kept if values is not None]
    return found if len(found) == len(kept) else []


def about_tests(tests: Sequence[PairedTest], view: View) -> str:
    """Return what a star means in this table, in words; nothing if nothing was tested."""
    made = [test for test in tests if test.p_value is not None]
    if not tests:
        return ""
    if not made:
        return f"No stars of ours: a test at {LEVEL} needs {FEWEST_PAIRS} cases or runs."
    over = sorted({test.over for test in made})
    fewest, most = min(t.pairs for t in made), max(t.pairs for t in made)
    pairs = f"{most}" if fewest == most else f"{fewest} to {most}"
    runs = " taken as independent, values averaged over runs" if "cases" in over else ""
    single = "" if view.profile == "paper" else " of the scores of single cases, not pooled ones,"
    return (
        f"Star: better than the same loss without surgery by Wilcoxon's signed-rank test{single} "
        f"over {pairs} {' or '.join(over)}{runs}, two-sided p < {LEVEL}, each cell by itself."
    )
