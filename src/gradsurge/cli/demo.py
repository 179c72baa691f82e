"""``gradsurge demo``: what each loss makes of voxels that no network can tell apart."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from gradsurge.cli.output import check_directory, progress_bar

if TYPE_CHECKING:
    from gradsurge.experiments.equilibria import Comparison

_HEADINGS = {
    "ce": "cross-entropy",
    "dice": "Dice",
    "dice-surgery": "Dice surgery",
    "corrected": "corrected",
}
_MEANING = """
Each row is a set of voxels with one logit between them, a share r of them foreground:
cross-entropy comes to rest at r, Dice at 0 or 1, and Dice with surgery in between, {shift:+.3f}
from r in the logit. The loss measured that shift while it descended; taking it away again gives
r ("corrected"), with nothing fitted.
"""


def demo(
    out: Annotated[
        Path, typer.Option(help="Directory for the figure.", callback=check_directory)
    ] = Path("runs/demo"),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show where cross-entropy, Dice and Dice surgery come to rest, and draw it."""
    out.mkdir(parents=True, exist_ok=True)  # fail before the work, not after it
    with progress_bar("loading", total=1) as (bar, task):
        from gradsurge.experiments.equilibria import COMPARED, STEPS, compare
        from gradsurge.report.figures.equilibria import draw
        from gradsurge.report.style import save

        bar.update(task, description="descending", total=STEPS * len(COMPARED))
        found = compare(on_step=lambda: bar.advance(task))
        files = save(draw(found), out, "equilibria")
    if as_json:
        _print_json(found, files)
    else:
        _print_table(found)
        shift = float(found.settled["dice-surgery"].shift[1])
        typer.echo(_MEANING.format(shift=shift))
        typer.echo("Written: " + ", ".join(map(str, files)))


def _print_table(found: "Comparison") -> None:
    table = Table(title="Probability at rest, against the true share r", show_footer=True)
    table.add_column("r", "mean |p - r|", justify="right")
    columns, errors = found.columns(), found.errors()
    for name in columns:
        table.add_column(_HEADINGS[name], f"{errors[name]:.4f}", justify="right")
    for r, *row in zip(found.ratios.tolist(), *(c.tolist() for c in columns.values()), strict=True):
        table.add_row(f"{r:.2f}", *(f"{p:.4f}" for p in row))
    Console().print(table)


def _print_json(found: "Comparison", files: list[Path]) -> None:
    result = {
        "ratios": found.ratios.tolist(),
        "probabilities": {name: p.tolist() for name, p in found.columns().items()},
        "mean_error": found.errors(),
        "shift": float(found.settled["dice-surgery"].shift[1]),
        "files": [str(f) for f in files],
    }
    typer.echo(json.dumps(result, indent=2))
