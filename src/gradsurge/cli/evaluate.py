"""``gradsurge evaluate``: the calibration of any model's outputs."""

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.markup import escape

from gradsurge.cli.evaluate_options import (
    parse_bins,
    parse_edges,
    parse_label_sets,
    parse_millimetres,
    parse_models,
    parse_regions,
)
from gradsurge.cli.output import check_directory, progress_bar

if TYPE_CHECKING:
    from gradsurge.experiments.evaluation.settings import Settings

_FILES = ("metrics.json", "cases.csv", "report.html", "sketches")


def evaluate(
    predictions: Annotated[
        list[str],
        typer.Argument(
            metavar="[NAME=]PREDICTIONS...", help="Folder of probability maps; one a model."
        ),
    ],
    labels: Annotated[
        Path,
        typer.Argument(metavar="LABELS", help="Folder of labels.", exists=True, file_okay=False),
    ],
    out: Annotated[
        Path, typer.Option(help="Directory for the results.", callback=check_directory)
    ] = Path("evaluation"),
    logits: Annotated[
        bool, typer.Option("--logits", help="The files hold logits, not probabilities.")
    ] = False,
    multilabel: Annotated[
        bool, typer.Option("--multilabel", help="Channels may overlap (sigmoid); a --label each.")
    ] = False,
    label: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=N[,N]", help="A structure: tumour=2, kidney+tumour=1,2. Repeatable."
        ),
    ] = None,
    region: Annotated[
        list[str] | None,
        typer.Option(
            metavar="REGION",
            help="Voxels that count: all, active, mask, band. Repeatable.  [default: all, active]",
        ),
    ] = None,
    masks: Annotated[
        Path | None,
        typer.Option(help="Folder of mask files, for --region mask.", exists=True, file_okay=False),
    ] = None,
    band_mm: Annotated[
        float,
        typer.Option(
            help="How far --region band reaches from the boundary.",
            min=1e-6,
            callback=parse_millimetres,
        ),
    ] = 5.0,
    profile: Annotated[
        Literal["foreground", "paper"], typer.Option(help="Which scores head the tables.")
    ] = "foreground",
    bins: Annotated[
        int, typer.Option(help="Bins of the calibration errors.", callback=parse_bins)
    ] = 15,
    minimum_bin: Annotated[
        int, typer.Option(help="Fewest voxels of a bin that counts for MCE.", min=1)
    ] = 1,
    no_lesions: Annotated[bool, typer.Option("--no-lesions", help="Leave lesions out.")] = False,
    lesion_edges: Annotated[
        str | None,
        typer.Option(
            metavar="MM3,MM3,...",
            help="Borders of lesion sizes; quartiles if left out.",
        ),
    ] = None,
    surface_mm: Annotated[
        float | None,
        typer.Option(
            help="Surface distance (NSD with this tolerance) and HD95 too.",
            min=1e-6,
            callback=parse_millimetres,
        ),
    ] = None,
    images: Annotated[
        Path | None,
        typer.Option(
            help="Folder of scans, shown with the worst cases.", exists=True, file_okay=False
        ),
    ] = None,
    allow_empty: Annotated[
        bool, typer.Option("--allow-empty", help="Score cases with an empty label.")
    ] = False,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", help="Processes; 0 for one a core.", min=0)
    ] = 1,
    dask: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Work on this Dask cluster.")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace results that are there.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print metrics.json.")] = False,
) -> None:
    """Measure the calibration of any model's probability maps against labels.

    Writes metrics.json, cases.csv, sketches/ and report.html. Reads NIfTI, .npy, .npz (nnU-Net's
    --save_probabilities too), PNG and TIFF; cases are matched by file name.
    """
    models = parse_models(predictions)
    regions = parse_regions(region or ("all", "active"))
    if ("mask" in regions) != (masks is not None):
        raise typer.BadParameter("--region mask and --masks DIR need each other")
    from gradsurge.experiments.evaluation.settings import Settings

    settings = Settings(
        logits=logits,
        multilabel=multilabel,
        label_sets=parse_label_sets(label or (), multilabel),
        regions=regions,
        masks=masks,
        band_mm=band_mm,
        profile=profile,
        bins=bins,
        minimum=minimum_bin,
        lesions=not no_lesions,
        lesion_edges=parse_edges(lesion_edges),
        surface_mm=surface_mm,
        allow_empty=allow_empty,
    )
    _make_room(out, overwrite)
    _run(models, labels, settings, images, out, jobs, dask, as_json)


def _make_room(out: Path, overwrite: bool) -> None:
    old = [out / name for name in _FILES if (out / name).exists()]
    if old and not overwrite:
        raise typer.BadParameter(f"{out} holds results already; replace them with --overwrite")
    for path in old:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    out.mkdir(parents=True, exist_ok=True)


def _run(
    models: dict[str, Path],
    labels: Path,
    settings: "Settings",
    images: Path | None,
    out: Path,
    jobs: int,
    dask: str | None,
    as_json: bool,
) -> None:
    with progress_bar("loading", total=1) as (bar, task):
        from gradsurge.cli.evaluate_output import print_problems, print_tables
        from gradsurge.experiments.evaluation import files
        from gradsurge.experiments.evaluation.run import NothingToScore
        from gradsurge.experiments.evaluation.run import evaluate as run
        from gradsurge.experiments.workers import WorkerError
        from gradsurge.report.evaluation.page import write_report

        try:
            found = run(
                models,
                labels,
                settings,
                images=images,
                sketches=out / "sketches",
                jobs=jobs,
                dask=dask,
                on_tasks=lambda n: bar.update(task, description="measuring", total=n + 1),
                on_case=lambda case: bar.update(
                    task, description=escape(case.task.case), advance=1
                ),
            )
        except NothingToScore as error:
            print_problems(error.problems)
            typer.echo(f"gradsurge: error: {error}", err=True)
            raise typer.Exit(1) from error
        except (ValueError, WorkerError) as error:
            typer.echo(f"gradsurge: error: {error}", err=True)
            raise typer.Exit(1) from error
        bar.update(task, description="writing")
        files.write_metrics(found, out / "metrics.json")
        files.write_cases(found, out / "cases.csv")
        write_report(found, out / "report.html")
    if as_json:
        typer.echo(json.dumps(files.as_json(found), indent=2))
    else:
        print_tables(found)
        typer.echo(f"Written: {', '.join(str(out / name) for name in _FILES)}")
    print_problems(found.problems)
    raise typer.Exit(1 if found.problems else 0)
