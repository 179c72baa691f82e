"""What ``gradsurge recalibrate`` prints."""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from gradsurge.calibration.recalibration import Comparison, Recalibration
    from gradsurge.experiments.recalibrate_maps import FolderResult

_WORDS = {"limit": "largest |log-odds| that the fit could tell"}


def print_fit(found: "Recalibration", out: Path) -> None:
    """Print the parameters of a fit, its note, and where it is."""
    for name, value in found.parameters.items():
        typer.echo(f"{_WORDS.get(name, name)}: {_short(value)}")
    if found.note:
        typer.echo(f"note: {found.note}")
    typer.echo(f"Written: {out}")


def print_comparison(found: "Comparison", fit_on: Sequence[Path]) -> None:
    """Print a table of the rows that have scores, the notes, and how to measure the others."""
    table = Table(title=found.caption, title_justify="left")
    table.add_column("recalibration", no_wrap=True)
    names = found.rows[0].scores._fields
    for name in names:
        table.add_column(name.replace("_", " ").upper(), justify="right")
    for row in found.rows:
        if row.is_scored:
            values = (getattr(row.scores, name) for name in names)
            table.add_row(row.method, *("–" if v != v else f"{float(v):.4g}" for v in values))
    Console().print(table)
    for row in found.rows:
        if row.note:
            typer.echo(f"{row.method}: {row.note}")
    if found.note:
        typer.echo(f"Note: {found.note}, for isotonic by:")
        sketches = shlex.join(str(file) for file in fit_on)
        typer.echo(f"  gradsurge recalibrate fit isotonic {sketches} --out isotonic.json")
        typer.echo("  gradsurge recalibrate apply isotonic.json PREDICTIONS recalibrated")
        typer.echo("  gradsurge evaluate before=PREDICTIONS after=recalibrated LABELS")


def print_problems(problems: Sequence[str]) -> None:
    """Print a line a problem on stderr."""
    for line in problems:
        typer.echo(f"gradsurge: problem: {' '.join(line.split())}", err=True)


def print_applied(result: "FolderResult", out: Path) -> None:
    """Print a line a problem on stderr, and what was written."""
    print_problems(result.problems)
    joined = f" ({result.in_channels} with a file a channel)" if result.in_channels else ""
    typer.echo(f"Written: {result.written} of {result.cases} cases{joined} to {out}")


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) < 100 else f"{text[:96]} ..."
