"""The rows of a table: variants with their records, and numbers over them."""

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from gradsurge.experiments.recipes import Recipe, Variant
from gradsurge.experiments.result_table import Cell
from gradsurge.experiments.study.record import Record

SURGERY = "-surgery"
Number = float | None


@dataclass(frozen=True)
class RowRecords:
    """A variant and its runs that count, in the order of their seeds or ranks."""

    variant: Variant
    records: tuple[Record, ...]

    @property
    def corrections(self) -> list[str]:
        """Those that all of its runs have, in the order of the first."""
        shared = [set(record.measured.pooled) for record in self.records]
        first = list(self.records[0].measured.pooled) if self.records else []
        return [name for name in first if all(name in names for names in shared)]

    def values(self, number: Callable[..., Number], *arguments: Any) -> list[float]:
        """Return ``number(record, *arguments)`` of each record, those without it left out."""
        found = (number(record, *arguments) for record in self.records)
        return [value for value in found if value is not None and math.isfinite(value)]


def rows_of(records: Sequence[Record], recipe: Recipe, table: str) -> list[RowRecords]:
    """Return the rows of a table in the recipe's order, also those without records.

    Args:
        records: that count, of any variant.
        recipe: of the study.
        table: its name in the recipe.

    Raises:
        ValueError: the recipe has no such table.
    """
    return [
        RowRecords(variant, tuple(r for r in records if r.variant == variant.name))
        for variant in recipe.variants_of(table)
    ]


def base_of(row: RowRecords, rows: Iterable[RowRecords]) -> RowRecords | None:
    """Return the row of the same loss without surgery; None if there is none in the table.

    Of "dice-surgery.sgd" that is "dice.sgd", and where there is none, "dice", or else the only row
    of that loss, such as "dice.short".
    """
    if not row.variant.loss.endswith(SURGERY):
        return None
    loss = row.variant.loss.removesuffix(SURGERY)
    _, point, special = row.variant.name.partition(".")
    by_name = {other.variant.name: other for other in rows if other.variant.loss == loss}
    only = next(iter(by_name.values())) if len(by_name) == 1 else None
    return by_name.get(f"{loss}{point}{special}") or by_name.get(loss) or only


def group_of(variant: Variant) -> str:
    """Return what rows of one loss, with and without surgery, have in common."""
    return variant.loss.removesuffix(SURGERY)


def cell_of(values: Sequence[float], *, star: bool = False, scale: float = 1.0) -> Cell:
    """Return mean and sample standard deviation; no deviation of one value.

    >>> cell_of([1.0, 2.0, 3.0])
    Cell(value=2.0, deviation=1.0, star=False)
    """
    if not values:
        return Cell(None)
    scaled = [scale * value for value in values]
    deviation = statistics.stdev(scaled) if len(scaled) > 1 else None
    return Cell(math.fsum(scaled) / len(scaled), deviation, star)


def whole_cell(row: RowRecords, number: Callable[..., Number], *arguments: Any) -> Cell:
    """Return the cell of a row's runs; none if one of them lacks the number.

    For numbers that a run may have lost with a case: a mean of the others is of other runs than
    its neighbours, and nothing would tell.
    """
    values = row.values(number, *arguments)
    return cell_of(values if len(values) == len(row.records) else [])


def missing_notes(rows: Sequence[RowRecords], recipe: Recipe) -> list[str]:
    """Return a line for each row that has fewer runs than the recipe asks for."""
    notes = []
    for row in rows:
        wanted = runs_wanted(recipe, row.variant)
        if len(row.records) < wanted:
            notes.append(f"{row.variant.title}: {len(row.records)} of {wanted} runs so far.")
    return notes


def runs_wanted(recipe: Recipe, variant: Variant) -> int:
    """Return how many runs of a variant a table is made of."""
    own_search = recipe.search.kind == "random" and variant.point_of is None
    return recipe.search.keep if own_search else variant.seeds
