"""Tables by name: those of the paper, and our own."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from gradsurge.experiments.recipes import Recipe
from gradsurge.experiments.result_table import ResultTable
from gradsurge.experiments.study.record import Record
from gradsurge.experiments.study.tables.bias import bias_table
from gradsurge.experiments.study.tables.cases import cases_table
from gradsurge.experiments.study.tables.corrections import corrections_table
from gradsurge.experiments.study.tables.lesion_sizes import lesion_sizes_table
from gradsurge.experiments.study.tables.logits import logits_table
from gradsurge.experiments.study.tables.results import results_table
from gradsurge.experiments.study.tables.shift import shift_table
from gradsurge.experiments.study.tables.volume import volume_table

TABLES: dict[str, Callable[[Sequence[Record], Recipe, str], ResultTable]] = {
    "1": results_table,
    "2": results_table,
    "3": results_table,
    "4": results_table,
    "5": results_table,
    "6": lesion_sizes_table,
    "7": results_table,
    "8": logits_table,
    "corrections": corrections_table,
    "bias": bias_table,
    "cases": cases_table,
    "budget": corrections_table,
    "schedule": corrections_table,
    "statistics": corrections_table,
    "optimiser": corrections_table,
    "shift": shift_table,
    "volume": volume_table,
}

_SAME_SEEDS = ("schedule", "statistics")
"""Rows differ by less than seeds do: one seed is not held against the mean of three."""


def tables_of(records: Sequence[Record], recipe: Recipe, table: str) -> ResultTable:
    """Return a table of a recipe, made of records.

    Args:
        records: those that count; of other variants than the table's are passed over.
        recipe: of the study.
        table: one of `TABLES`.

    Raises:
        ValueError: there is no such table, or the recipe has none of that name.
    """
    if table not in TABLES:
        raise ValueError(f"table: unknown {table!r}; known: {', '.join(TABLES)}")
    if table in _SAME_SEEDS and table in recipe.tables:
        records, recipe = _with_same_seeds(records, recipe, table)
    return TABLES[table](records, recipe, table)


def _with_same_seeds(
    records: Sequence[Record], recipe: Recipe, table: str
) -> tuple[list[Record], Recipe]:
    """Return records of the seeds that all rows have so far, and a recipe that asks for them."""
    rows = recipe.variants_of(table)
    there = [{r.seed for r in records if r.variant == variant.name} for variant in rows]
    shared = set.intersection(*(seeds for seeds in there if seeds)) if any(there) else set()
    number = len(shared) or min(v.seeds for v in rows)
    variants = tuple(replace(v, seeds=min(v.seeds, number)) for v in recipe.variants)
    return [r for r in records if r.seed in shared], replace(recipe, variants=variants)
