"""A recipe done: what is missing is run, then tables are made of records."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gradsurge.data import CaseError
from gradsurge.experiments.recipes import Recipe, TablePart, Variant
from gradsurge.experiments.result_table import ResultTable
from gradsurge.experiments.runs.run_folder import has_ended
from gradsurge.experiments.search.trial_runs import RUNS
from gradsurge.experiments.study.matrix import Matrix
from gradsurge.experiments.study.protocol import Protocol
from gradsurge.experiments.study.provenance import commit
from gradsurge.experiments.study.record import Record
from gradsurge.experiments.study.second_rater import (
    SECOND_RATER,
    keep_second_rater,
    kept_second_rater,
)
from gradsurge.experiments.study.study_folder import with_told_title
from gradsurge.experiments.study.study_plan import StudyPlan
from gradsurge.experiments.study.study_site import StudySite
from gradsurge.experiments.study.tables import tables_of


@dataclass(frozen=True)
class Reproduction:
    """What came of it.

    Attributes:
        tables: in the order they were asked for.
        records: they are made of.
        failures: (run, case or file; why) of what is not in them.
    """

    tables: Sequence[ResultTable]
    records: Sequence[Record]
    failures: Sequence[tuple[str, str]]


def reproduce(site: StudySite, asked: Recipe) -> Reproduction:
    """Run what tables need and is missing, then make them.

    Args:
        site: where, and with what.
        asked: the recipe with the tables and rows that are asked for (`with_rows`).

    Raises:
        StudyStopped: a signal came; the same again goes on from there.
        ValueError: the storage is out of reach, or nothing can be trained here.
    """
    commit()  # of what runs now, which may take days
    matrix = Matrix(site, Protocol(asked, list(asked.tables)))
    try:
        keep_second_rater(site.recipe, site.folder, site.store)
    except CaseError as error:
        matrix.failures[SECOND_RATER] = str(error)
    matrix.run()
    return _made(matrix.plan, asked, list(matrix.failures.items()))


def tables_from_records(recipe: Recipe, asked: Recipe, folder: Path) -> Reproduction:
    """Make tables of the records that are there; nothing is run.

    Args:
        recipe: the whole recipe.
        asked: the same with the tables and rows that are asked for.
        folder: of the study.
    """
    plan = StudyPlan.of(recipe, Protocol(asked, list(asked.tables)), folder)
    return _made(plan, asked, [])


def for_files(recipe: Recipe, asked: Recipe, folder: Path, made: Reproduction) -> Reproduction:
    """Return what files of tables are made of: what is asked for, and all rows that are there.

    Whoever asks for a few rows sees these; written over the whole table they would hide the others.

    Args:
        recipe: the whole recipe.
        asked: the same with the tables and rows that are asked for.
        folder: of the study.
        made: what came of what was asked for.
    """
    plan = StudyPlan.of(recipe, Protocol(recipe, list(recipe.tables)), folder)
    records = plan.kept()
    shown = {record.variant for record in records}.union(
        *(part.variants for part in asked.tables.values())
    )
    rows = _parts(recipe, list(asked.tables), lambda variant: variant.name in shown)
    whole = _tables(plan, replace(asked, tables=rows), records)
    told = _with_failed_points(plan, made.failures)
    problems = dict.fromkeys((*told, *_case_problems(records)))
    return Reproduction(whole, records, list(problems))


def _made(plan: StudyPlan, asked: Recipe, failures: Sequence[tuple[str, str]]) -> Reproduction:
    records = plan.kept()
    plan.records.all()  # notes what is no record
    damaged = [("records", problem) for problem in plan.records.problems]
    told = [*_with_failed_points(plan, failures), *damaged, *_case_problems(records)]
    return Reproduction(_tables(plan, asked, records), records, told)


def _with_failed_points(
    plan: StudyPlan, failures: Sequence[tuple[str, str]]
) -> list[tuple[str, str]]:
    """Return failures, and points that failed as records tell, if they have not been mended."""
    protocol, told = plan.protocol, {name for name, _ in failures}
    trained = plan.records.folder / RUNS
    searched = {v.name: v for v in map(protocol.searched, protocol.measured())}
    points = [
        (variant.name, protocol.try_name(index, known.tried[index].point))
        for variant in searched.values()
        if (known := plan.selection(variant)) is not None
        for index in known.failed
    ]
    more = [
        (f"{variant} {name}", "its training failed when it was tried")
        for variant, name in points
        if f"{variant} {name}" not in told and not has_ended(trained / variant / name)
    ]
    return [*failures, *more]


def _case_problems(records: Sequence[Record]) -> list[tuple[str, str]]:
    return [
        (f"{record.variant} {record.run}, case {case}", problem)
        for record in records
        for case, problem in record.measured.problems
    ]


def _tables(plan: StudyPlan, asked: Recipe, records: Sequence[Record]) -> list[ResultTable]:
    rater = kept_second_rater(plan.recipe, plan.records.folder)
    shown = records if rater is None else [*records, rater]
    told = with_told_title(asked, plan.records.folder)
    return [tables_of(shown, told, table) for table in told.tables]


def with_rows(recipe: Recipe, tables: Sequence[str], losses: Sequence[str]) -> Recipe:
    """Return a recipe whose tables have only rows of some losses; tables without rows go.

    Args:
        recipe: the whole one.
        tables: that are asked for.
        losses: names of losses or variants; all rows if there is none.

    Raises:
        ValueError: a table or loss is not in the recipe, or nothing is left.
    """
    parts = _parts(recipe, tables, lambda v: not losses or bool({v.name, v.loss} & set(losses)))
    known = {name for v in recipe.variants for name in (v.name, v.loss)}
    for loss in losses:
        if loss not in known:
            listed = ", ".join(dict.fromkeys(variant.loss for variant in recipe.variants))
            raise ValueError(f"{recipe.name}: no loss {loss!r}; there are: {listed}")
    if not parts:
        raise ValueError(
            f"{recipe.name}: none of the tables {', '.join(tables)} has a row of "
            f"{', '.join(losses)}"
        )
    return replace(recipe, tables=parts)


def _parts(
    recipe: Recipe, tables: Sequence[str], keeps: Callable[[Variant], bool]
) -> dict[str, TablePart]:
    """Return the tables with the rows that are kept; those without rows go."""
    found = {table: [v.name for v in recipe.variants_of(table) if keeps(v)] for table in tables}
    return {
        table: replace(recipe.tables[table], variants=tuple(rows))
        for table, rows in found.items()
        if rows
    }
