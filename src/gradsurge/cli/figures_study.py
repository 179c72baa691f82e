"""``gradsurge figures study``: the evidence, drawn from the records of a study."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gradsurge.cli.figures_output import AsJson, Out
from gradsurge.cli.output import mistakes_in_one_line, progress_bar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradsurge.experiments.figure_data.study import StudyRecords
    from gradsurge.report.study_figures import StudyFigures


def study(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Folder of gradsurge reproduce.")
    ],
    out: Out = Path("figures"),
    as_json: AsJson = False,
) -> None:
    """Draw all that the records of a study allow, and say what is left out and why.

    gradsurge figures study results/isles

    corrections: every loss raw and corrected; exponent: scores over n; and for each loss with
    surgery (dice, tversky, ce+dice): reliability before and after, shift, volumes (Bland-Altman)
    and detection.
    """
    with progress_bar("reading", total=2) as (bar, task), mistakes_in_one_line():
        from gradsurge.experiments.figure_data.study import read_studies
        from gradsurge.report.study_figures import draw_study

        studies, problems = read_studies(folder)
        drawn = []
        for found in studies:
            # Of several recipes or scales each gets a folder of its own.
            place = out if len(studies) == 1 else out / f"{found.recipe}-{found.scale}"
            figures = draw_study(
                found, place, on_figure=lambda name: bar.update(task, description=name)
            )
            drawn.append((found, figures))
    for problem in problems:
        typer.echo(f"gradsurge: problem: {' '.join(problem.split())}", err=True)
    _tell(drawn, as_json)
    raise typer.Exit(1 if problems else 0)


def _tell(drawn: "Sequence[tuple[StudyRecords, StudyFigures]]", as_json: bool) -> None:
    if as_json:
        content = [
            {
                "study": found.name,
                "title": found.title,
                "figures": {name: [str(f) for f in files] for name, files in of.files.items()},
                "left_out": of.left_out,
            }
            for found, of in drawn
        ]
        typer.echo(json.dumps(content, indent=2))
        return
    for found, of in drawn:
        for files in of.files.values():
            for file in files:
                typer.echo(file)
        for name, why in of.left_out.items():
            typer.echo(f"{found.title}: left out {name}: {why}")
