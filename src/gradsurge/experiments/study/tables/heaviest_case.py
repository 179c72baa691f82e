"""The case that weighs most in the NLL of a study."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from gradsurge.experiments.study.tables.lines import Line, View, run_values
from gradsurge.experiments.study.tables.significance import case_means
from gradsurge.experiments.study.tables.table_rows import RowRecords


@dataclass(frozen=True)
class HeaviestCase:
    """A case, and how much of the NLL it holds.

    Attributes:
        case: its name.
        least, most: its share in the sum over cases of a row's mean NLL, of the row in which it
            weighs least, and most.
    """

    case: str
    least: float
    most: float


def heaviest_case(rows: Sequence[RowRecords]) -> HeaviestCase | None:
    """Return the case with the largest share of the NLL on average over the rows.

    Probabilities are those of each loss as it is. None where no row has two cases.
    """
    shares = [found for row in rows if len(found := _shares(row)) > 1]
    cases = dict.fromkeys(case for row in shares for case in row)
    if not cases:
        return None
    heaviest = max(cases, key=lambda case: math.fsum(row.get(case, 0.0) for row in shares))
    its = [row[heaviest] for row in shares if heaviest in row]  # a row may have lost it
    return HeaviestCase(heaviest, min(its), max(its))


def _shares(row: RowRecords) -> dict[str, float]:
    """Return case -> share of the row's NLL, averaged over its runs; nothing if there is none."""
    line = Line(row.variant.name, row.variant.title, row)
    means = case_means(run_values(line, "nll", View("foreground")))
    total = math.fsum(means.values())
    return {case: value / total for case, value in means.items()} if total > 0 else {}
