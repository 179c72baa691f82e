"""``gradsurge figures``: the paper's figures, from the package's own computations."""

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from gradsurge.cli.output import check_directory, progress_bar

figures = typer.Typer(help="Draw the paper's figures.", no_args_is_help=False)


@figures.callback()
def _figures() -> None:
    """Draw the paper's figures."""


@figures.command()
def theory(
    out: Annotated[
        Path, typer.Option(help="Directory for the files.", callback=check_directory)
    ] = Path("figures"),
    only: Annotated[
        Literal["pdf", "png"] | None,
        typer.Option("--format", help="Write this format alone; both if left out."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Draw the figures of the theory page, and print the numbers it quotes."""
    out.mkdir(parents=True, exist_ok=True)  # fail before the work, not after it
    with progress_bar("loading", total=4) as (bar, task):
        from gradsurge.report.style import FORMATS
        from gradsurge.report.theory import draw_theory

        drawn = draw_theory(
            out,
            (only,) if only else FORMATS,
            lambda name: bar.update(task, description=name, advance=1),
        )
    if as_json:
        entries = [
            {"figure": d.name, "files": [str(f) for f in d.files], "numbers": d.numbers}
            for d in drawn
        ]
        typer.echo(json.dumps(entries, indent=2))
        return
    for d in drawn:
        for file in d.files:
            typer.echo(file)
        for name, value in d.numbers.items():
            typer.echo(f"    {name} = {value:.4g}")


@figures.command()
def phantoms(
    out: Annotated[
        Path, typer.Option(help="Directory for the files.", callback=check_directory)
    ] = Path("figures"),
    seed: Annotated[int, typer.Option(help="Of the phantoms.", min=0)] = 0,
) -> None:
    """Draw four cases of every phantom: image, true posterior, label."""
    out.mkdir(parents=True, exist_ok=True)
    with progress_bar("loading", total=1) as (bar, task):
        from gradsurge.data.phantoms import PHANTOMS, make_phantom
        from gradsurge.report.figures.phantom_gallery import compute, draw
        from gradsurge.report.style import save

        bar.update(task, description="drawing", total=len(PHANTOMS) + 1)
        rows = {}
        for name in PHANTOMS:
            rows[name] = [make_phantom(name, index, seed) for index in range(4)]
            bar.advance(task)
        files = save(draw(compute(rows)), out, "phantoms")
    for file in files:
        typer.echo(file)
