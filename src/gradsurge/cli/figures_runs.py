"""``gradsurge figures gradients``, ``maps`` and ``curves``: figures of trained runs."""

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.markup import escape

from gradsurge.cli.figures_output import AsJson, Out, print_figures
from gradsurge.cli.output import mistakes_in_one_line, progress_bar

_Structure = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Class or region; the one with most confident errors."),
]


def gradients(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of gradsurge train.")],
    store: Annotated[Path, typer.Argument(metavar="STORE", help="Folder of gradsurge prepare.")],
    out: Out = Path("figures"),
    case: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Case; the worst of eight test cases if left out."),
    ] = None,
    number: Annotated[
        int | None,
        typer.Option(
            "--slice", metavar="N", help="Of a volume, from 1; the worst one if left out."
        ),
    ] = None,
    structure: _Structure = None,
    whole: Annotated[
        bool, typer.Option("--whole", metavar="", help="Show the slice without zooming in.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Draw Figure 2: what Dice, cross-entropy and surgery pull at in a real prediction.

    gradsurge figures gradients runs/dice stores/chase

    All losses get the same logits, those of RUN on a whole case. Circles mark confident errors,
    |y - p| of 0.9 and above, where the gradient of Dice vanishes.
    """
    with progress_bar("loading", total=10) as (bar, task), mistakes_in_one_line():
        from gradsurge.data.store import Store
        from gradsurge.experiments.figure_data.gradients import logit_gradients
        from gradsurge.experiments.figure_data.network_on_store import open_on
        from gradsurge.report.figures import logit_gradients as figure
        from gradsurge.report.figures.full_colour import save_pictures

        data = logit_gradients(
            open_on(Store.open(store), run),
            case,
            number,
            structure,
            lambda name: bar.update(task, description=escape(name), advance=1),
        )
        bar.update(task, description="drawing")
        files = save_pictures(figure.draw(data, zoomed=not whole), out, "gradients")
    print_figures({"gradients": files}, figure.numbers(data), as_json)


def maps(
    store: Annotated[Path, typer.Argument(metavar="STORE", help="Folder of gradsurge prepare.")],
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="Folders of gradsurge train, the baseline first."),
    ],
    out: Out = Path("figures"),
    cases: Annotated[
        list[str] | None,
        typer.Option(
            "--case",
            metavar="NAME",
            help="Case, repeatable; the worst two of eight test cases if left out.",
        ),
    ] = None,
    structure: _Structure = None,
    correction: Annotated[
        Literal["none", "auto", "equilibrium", "bias", "temperature"],
        typer.Option(help="Of the probabilities; auto: each run's own choice."),
    ] = "none",
    as_json: AsJson = False,
) -> None:
    """Draw Figures 3 and 7: probability maps of several runs on the same cases.

    gradsurge figures maps stores/chase runs/dice runs/dice-surgery

    maps: zoomed to where the first run is surely wrong, with arrows (Figure 3); examples: whole
    slices, image, label and maps (Figure 7).
    """
    with progress_bar("loading", total=10) as (bar, task), mistakes_in_one_line():
        from gradsurge.data.store import Store
        from gradsurge.experiments.figure_data.map_comparison import compare_maps
        from gradsurge.experiments.figure_data.network_on_store import open_on
        from gradsurge.report.figures import compared_maps as figure
        from gradsurge.report.figures.full_colour import save_pictures

        opened = Store.open(store)
        data = compare_maps(
            [open_on(opened, run) for run in runs],
            cases or [],
            correction=correction,
            structure=structure,
            on_case=lambda name: bar.update(task, description=escape(name), advance=1),
        )
        bar.update(task, description="drawing")
        files = {
            "maps": save_pictures(figure.draw_zoomed(data), out, "maps"),
            "examples": save_pictures(figure.draw_whole(data), out, "examples"),
        }
    print_figures(files, figure.numbers(data), as_json)


def curves(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...",
            help="Folders of gradsurge train, finished or not; or of gradsurge reproduce.",
        ),
    ],
    out: Out = Path("figures"),
    as_json: AsJson = False,
) -> None:
    """Draw Figure 5: loss, Dice and NLL of trainings, a column an optimiser, a colour a loss.

    gradsurge figures curves runs/dice-sgd runs/surgery-sgd runs/dice-adam runs/surgery-adam

    A folder of gradsurge reproduce phantoms --table optimiser stands for its four runs.

    All curves of a few runs, learning rate and ECE among them: gradsurge show.
    """
    with progress_bar("reading", total=1), mistakes_in_one_line():
        from gradsurge.experiments.figure_data.optimiser_runs import runs_to_compare
        from gradsurge.report.figures import optimiser_curves as figure
        from gradsurge.report.style import save

        data = figure.compute(runs_to_compare(runs))
        files = save(figure.draw(data), out, "curves")
    print_figures({"curves": files}, figure.numbers(data), as_json)
