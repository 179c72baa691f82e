"""What tables say of their runs and cases, and the table with all that."""

from collections.abc import Sequence

from gradsurge.experiments.recipes import Recipe
from gradsurge.experiments.result_table import Column, ResultTable, TableBlock
from gradsurge.experiments.study.tables.table_rows import (
    SURGERY,
    RowRecords,
    missing_notes,
    runs_wanted,
)
from gradsurge.losses.strength import told_strength

_KINDS = {2: "images", 3: "volumes"}
_VOXELS = {"logits": ", as prepared", "probabilities": ", on the voxels of their files"}
_MEAN = "Mean ± sample standard deviation"


def told_table(
    recipe: Recipe,
    rows: Sequence[RowRecords],
    *,
    name: str,
    title: str,
    columns: Sequence[Column],
    blocks: Sequence[TableBlock],
    words: Sequence[str],
    cases: str | None = None,
    last_words: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> ResultTable:
    """Return a table whose caption, notes and provenance speak of its cases and runs.

    Args:
        recipe: of the study.
        rows: whose records it is made of.
        name: stem of its files.
        title: what it shows, without the data.
        columns: from left to right.
        blocks: from top to bottom.
        words: what the numbers are; empty ones are left out.
        cases: what is said of the cases before that; how many test cases there are if None.
        last_words: more of the caption, after what is said of the runs.
        notes: more of them, after those on missing runs.
    """
    first = about_cases(rows) if cases is None else cases
    said = (first, *words, about_runs(recipe, rows), *last_words)
    return ResultTable(
        name=name,
        title=f"{title}: {recipe.title}",
        caption=" ".join(filter(None, said)),
        columns=columns,
        blocks=blocks,
        notes=[*missing_notes(rows, recipe), *notes],
        provenance=provenance_of(rows),
        study=recipe.name,
    )


def about_cases(rows: Sequence[RowRecords]) -> str:
    """Return how many cases were measured, and what scores of several structures are."""
    told = number_of_cases(rows)
    structures = next((r.measured.structures for row in rows for r in row.records), [])
    if len(structures) < 2:
        return told
    listed = " and ".join(structures)
    return f"{told} Scores are means over {listed}; the NLL of exclusive classes is joint."


def number_of_cases(rows: Sequence[RowRecords]) -> str:
    """Return how many cases were measured, in words.

    Fewer in one run than in another are told: their means are of other cases.
    """
    records = [record for row in rows for record in row.records]
    if not records:
        return "Nothing is measured yet."
    numbers = sorted({len(record.measured.cases) for record in records})
    measured = records[0].measured
    count = f"{numbers[0]}" if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"
    where = _VOXELS.get(measured.likelihood, "")
    kind = _KINDS.get(measured.dimensions, "cases")
    kind = kind.removesuffix("s") if numbers == [1] else kind
    return f"{count} {measured.split} {kind}{where}."


def about_runs(recipe: Recipe, rows: Sequence[RowRecords]) -> str:
    """Return which runs the numbers are of, in words."""
    search = recipe.search
    kept = [row for row in rows if row.variant.point_of is None]
    others = sorted({row.variant.point_of for row in rows if row.variant.point_of is not None})
    if search.kind == "random" and kept:
        which = "the best" if search.keep == 1 else f"the {search.keep} best"
        text = f"{which} of {search.trials} runs by validation Dice."
        text = f"{_MEAN} over {text}" if search.keep > 1 else f"{text[0].upper()}{text[1:]}"
        return (
            f"{text} Rows at the best point of {', '.join(others)}: by seeds." if others else text
        )
    # What is there, not what is wanted: a study may be on its way.
    there = {len(row.records) for row in rows if row.records}
    numbers = sorted(there or {runs_wanted(recipe, row.variant) for row in rows})
    seeds = f"{numbers[0]}" if numbers[0] == numbers[-1] else f"{numbers[0]} to {numbers[-1]}"
    several = f"{_MEAN} over {seeds} seeds" if numbers[-1] > 1 else "One run a row"
    searched = any(recipe.space_of(row.variant) for row in rows)
    chosen = ", at the point that was best by validation Dice" if searched else ""
    beside = f" (some rows at that of {', '.join(others)})" if chosen and others and kept else ""
    beside = f" for {', '.join(others)}" if chosen and others and not kept else beside
    return f"{several}{chosen}{beside}."


def provenance_of(rows: Sequence[RowRecords]) -> dict[str, str]:
    """Return what the records of a table have in common, and the last of their dates."""
    told = [dict(record.provenance) for row in rows for record in row.records]
    if not told:
        return {}
    found = {}
    for name in told[0]:
        values = list(dict.fromkeys(one.get(name, "") for one in told))
        if name == "date":
            found[name] = max(values)
        elif name == "commit":
            found[name] = "; ".join(value or "unknown" for value in values)
            if any(value.endswith("+") for value in values):
                found[name] += " (+: with changes not committed)"
        elif name != "command":
            found[name] = "; ".join(values) if len(values) < 4 else f"{len(values)} different"
    said = {
        told_strength(row.variant.loss, record.training.get("strength", {}))
        for row in rows
        for record in row.records
        if row.variant.loss.endswith(SURGERY)
    }
    return {**found, "strength of surgery": "; ".join(sorted(said))} if said else found
