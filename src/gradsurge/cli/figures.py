"""``gradsurge figures``: the paper's figures, from the package's own computations."""

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from gradsurge.cli.figures_output import Out
from gradsurge.cli.figures_runs import curves, gradients, maps
from gradsurge.cli.figures_study import study
from gradsurge.cli.output import mistakes_in_one_line, progress_bar
from gradsurge.cli.sizes import parse_size

_HELP = """Draw figures, each as a vector PDF and a PNG.

\b
Figure 1   derivatives of Dice and cross-entropy       theory
Figure 2   gradients on a real prediction              gradients RUN STORE
Figure 3   probability maps, zoomed, with arrows       maps STORE RUN RUN ...
Figure 4   vector fields of eight losses               theory
Figure 5   training curves, SGD against Adam           curves RUN ... or FOLDER
Figure 6   normalised partial derivatives              theory
Figure 7   qualitative examples                        maps STORE RUN RUN ...

\b
Ours: where losses come to rest (theory); distribution shift, volumes,
detection, exponent n, raw against corrected (study FOLDER); data (phantoms,
patches).
"""

figures = typer.Typer(help=_HELP, no_args_is_help=False)


@figures.command()
def theory(
    out: Out = Path("figures"),
    only: Annotated[
        Literal["pdf", "png"] | None,
        typer.Option("--format", help="Write this format alone; both if left out."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Draw Figures 1, 4 and 6 and where losses come to rest, and print the numbers they show.

    partials: Figure 1; vector_fields: Figure 4; normalised_partials: Figure 6; equilibria: ours.
    """
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


figures.command()(gradients)
figures.command()(maps)
figures.command()(curves)
figures.command()(study)


@figures.command()
def phantoms(
    out: Out = Path("figures"),
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
    out: Out = Path("figures"),
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

        with mistakes_in_one_line():
            opened = Store.open(store)
            bar.update(task, description="drawing")
            rows = rows_of_store(opened, augmentation, sides, cases, seed)
        out.mkdir(parents=True, exist_ok=True)
        files = save(draw(rows, opened.dataset.label_names), out, "patches")
    for file in files:
        typer.echo(file)
