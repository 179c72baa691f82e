"""``gradsurge figures``: the paper's figures, from the package's own computations."""

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from gradsurge.cli.output import check_directory, progress_bar
from gradsurge.cli.sizes import parse_size

figures = typer.Typer(help="Draw figures: theory, phantoms, patches.", no_args_is_help=False)


@figures.callback()
def _figures() -> None:
    """Draw figures: of the theory, of phantoms, of the patches that training sees."""


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


@figures.command()
def patches(
    store: Annotated[Path, typer.Argument(metavar="STORE", help="Folder of gradsurge prepare.")],
    out: Annotated[
        Path, typer.Option(help="Directory for the files.", callback=check_directory)
    ] = Path("figures"),
    augmentation: Annotated[
        Literal["nnunet", "light", "none"], typer.Option(help="What is done to the patches.")
    ] = "nnunet",
    size: Annotated[
        str | None, typer.Option(metavar="N,N[,N]", help="Voxels of a patch along each axis.")
    ] = None,
    cases: Annotated[int, typer.Option(help="How many cases, a row each.", min=1, max=20)] = 4,
    seed: Annotated[int, typer.Option(help="Of places and augmentation.", min=0)] = 0,
) -> None:
    """Draw patches of a store, as they are and augmented, with the label's outline."""
    sides = parse_size(size)
    with progress_bar("loading", total=1) as (bar, task):
        from gradsurge.data.store import Store
        from gradsurge.report.figures.patch_gallery import draw
        from gradsurge.report.figures.store_patches import rows_of_store
        from gradsurge.report.style import save

        try:
            opened = Store.open(store)
            bar.update(task, description="drawing")
            rows = rows_of_store(opened, augmentation, sides, cases, seed)
        except ValueError as error:
            typer.echo(f"gradsurge: error: {' '.join(str(error).split())}", err=True)
            raise typer.Exit(1) from error
        out.mkdir(parents=True, exist_ok=True)
        files = save(draw(rows, opened.dataset.label_names), out, "patches")
    for file in files:
        typer.echo(file)
