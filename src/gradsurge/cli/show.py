"""``gradsurge show``: the curves of trainings, and what came of them."""

import json
from pathlib import Path
from typing import Annotated

import typer

from gradsurge.cli.output import check_directory, mistakes_in_one_line, progress_bar
from gradsurge.cli.train_output import print_runs


def show(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Folders of gradsurge train.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Where to draw the curves, .png or .pdf; curves.png of the first run if left out.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", metavar="", help="Print JSON.")] = False,
) -> None:
    """Draw loss, Dice, ECE, NLL and learning rate over steps, and print what came of the runs.

    gradsurge show runs/dice runs/dice-surgery --out curves.pdf

    Runs may still be training. The Dice is that of the masks as the column before says: at the
    thresholds measured on these cases where they helped.
    """
    file = runs[0] / "curves.png" if out is None else out
    if file.suffix not in (".png", ".pdf"):
        raise typer.BadParameter(f"--out: expected a name that ends in .png or .pdf, got {file}")
    check_directory(file.parent)
    with progress_bar("reading", total=2) as (bar, task):
        from gradsurge.experiments.runs.history import read_histories

        with mistakes_in_one_line():
            found = read_histories(runs)
        bar.update(task, description="drawing", advance=1)
        from gradsurge.report.figures import training_curves

        training_curves.write(found, file)
    if as_json:
        content = {"figure": str(file), "runs": [run.to_json() for run in found]}
        typer.echo(json.dumps(content, indent=2))
        return
    print_runs(found)
    typer.echo(f"Written: {file}")
