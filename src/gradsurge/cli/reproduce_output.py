"""What ``gradsurge reproduce`` prints and writes."""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from gradsurge.experiments.recipes import Recipe
    from gradsurge.experiments.result_table import ResultTable
    from gradsurge.experiments.study import Overview, Reproduction

_FEW = 6  # names on a line


def print_overview(
    recipe: "Recipe", asked: "Recipe", overview: "Overview", out: Path, *, as_json: bool
) -> None:
    """Print the runs that tables need, which are there, and about how long the others take."""
    if as_json:
        typer.echo(json.dumps(_overview_to_json(recipe, asked, overview, out), indent=2))
        return
    table = Table(
        title=f"{recipe.title}, scale {recipe.scale}: runs in {out}", title_justify="left"
    )
    table.add_column("variant")
    for head in ("tried", "runs", "missing", "steps", "about"):
        table.add_column(head, justify="right")
    for one in overview.variants:
        tried = f"{one.tries_done} of {one.tries}" if one.tries else "-"
        runs = f"{one.runs_done} of {one.runs}" if one.runs else "-"
        left = in_words(one.missing_steps * overview.pace.seconds / 60)
        steps = str(one.steps or one.try_steps)
        table.add_row(one.variant.name, tried, runs, str(one.missing), steps, left)
    Console().print(table)
    for one in overview.variants:
        if one.missing:
            typer.echo(f"{one.variant.name}: {_shortened(one.to_train)}")
    pace, trained = overview.pace, overview.unmeasured
    left = in_words(overview.minutes)
    left = left if left.startswith("<") else f"about {left}"
    measured = f" Trained and yet to be measured: {trained}." if trained else ""
    typer.echo(
        f"{overview.missing} runs are missing, {left} of "
        f"training for one process at {pace.seconds:.2g} s a step ({pace.source}); validating and "
        f"measuring come on top.{measured} Tables: {', '.join(asked.tables)}."
    )


def _shortened(names: Sequence[str]) -> str:
    """Return names in one line, of many the first and the last.

    >>> _shortened([f"trial_{n:03d}" for n in range(25)]), _shortened(["lr0.01", "lr0.01_seed1"])
    ('trial_000, trial_001, ... trial_024', 'lr0.01, lr0.01_seed1')
    """
    few = names if len(names) <= _FEW else (*names[:2], f"... {names[-1]}")
    return ", ".join(few)


def in_words(minutes: float) -> str:
    """Return a time that nobody wants to know exactly.

    >>> in_words(0), in_words(0.4), in_words(95), in_words(60 * 100)
    ('0 min', '<1 min', '1.6 h', '4.2 days')
    """
    if 0 < minutes < 1:
        return "<1 min"
    if minutes < 60:
        return f"{round(minutes)} min"
    hours = minutes / 60
    return f"{hours:.1f} h" if hours < 48 else f"{hours / 24:.1f} days"


def print_published(asked: "Recipe") -> None:
    """Print the published numbers that the tables are compared with."""
    from gradsurge.report.tables import to_text

    for table in _published(asked):
        typer.echo(f"\n{to_text(table)}", nl=False)


def _published(asked: "Recipe") -> Iterator["ResultTable"]:
    from gradsurge.experiments.published import published_table
    from gradsurge.report.tables import as_published

    for name, part in asked.tables.items():
        if part.published is None or not name.isdigit():
            continue
        published = published_table(int(name))
        blocks = [part.published] if part.published in published.blocks else None
        yield as_published(published, blocks)


def print_tables(found: "Reproduction", files: list[Path], *, as_json: bool) -> None:
    """Print the tables, or as JSON their numbers, where they are and what failed."""
    from gradsurge.report.tables import to_text

    if as_json:
        content = {
            "tables": [str(file) for file in files],
            "numbers": _numbers(found.tables),
            "records": len(found.records),
            "failures": [{"run": run, "reason": reason} for run, reason in found.failures],
        }
        typer.echo(json.dumps(content, indent=2, allow_nan=False))
        return
    for table in found.tables:
        typer.echo(f"{to_text(table)}\n", nl=False)
    typer.echo(f"Written: {files[0].parent} ({len(files)} files)")


def _numbers(tables: Iterable["ResultTable"]) -> list[dict[str, object]]:
    from gradsurge.report.tables import tidy_rows

    return [row for table in tables for row in tidy_rows(table)]


def write_all(recipe: "Recipe", found: "Reproduction", out: Path) -> list[Path]:
    """Write every table in every format, what was expected, and the summary; return the files."""
    from gradsurge.experiments.study.expectations import expectations_of, expectations_page
    from gradsurge.experiments.study.study_folder import TABLES, with_told_title
    from gradsurge.experiments.study.summary import summary_of
    from gradsurge.experiments.whole_file import write_whole
    from gradsurge.report.tables import write_table

    folder = out / TABLES
    files = [file for table in found.tables for file in write_table(table, folder)]
    told = with_told_title(recipe, out)
    pages = {"summary.md": summary_of(told, found.records, found.failures)}
    if checked := expectations_of(found.records, told):
        pages["expectations.md"] = expectations_page(told, checked)
    for name, page in pages.items():
        write_whole(folder / name, page.encode())
    return [*files, *(folder / name for name in pages)]


def _overview_to_json(
    recipe: "Recipe", asked: "Recipe", overview: "Overview", out: Path
) -> dict[str, object]:
    return {
        "recipe": recipe.name,
        "scale": recipe.scale,
        "folder": str(out),
        "tables": list(asked.tables),
        "published": _numbers(_published(asked)),
        "missing": overview.missing,
        "minutes": round(overview.minutes, 2),
        "seconds_a_step": overview.pace.seconds,
        "seconds_source": overview.pace.source,
        "variants": [
            {
                "variant": one.variant.name,
                "tries": one.tries,
                "tries_done": one.tries_done,
                "runs": one.runs,
                "runs_done": one.runs_done,
                "unmeasured": one.unmeasured,
                "steps": one.steps or one.try_steps,
                "missing": one.missing,
                "to_train": list(one.to_train),
            }
            for one in overview.variants
        ],
    }
