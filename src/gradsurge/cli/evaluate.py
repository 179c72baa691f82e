"""``gradsurge evaluate``: the calibration of any model's outputs."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from gradsurge.cli.completion import REGIONS, one_of
from gradsurge.cli.evaluate_options import (
    parse_bins,
    parse_edges,
    parse_folders,
    parse_label_sets,
    parse_millimetres,
    parse_regions,
)
from gradsurge.cli.evaluate_work import Work, check_room, measure_into
from gradsurge.cli.output import check_directory


def evaluate(
    folders: Annotated[
        list[str],
        typer.Argument(
            metavar="[NAME=]PREDICTIONS... LABELS",
            help="Folders of probability maps, one a model, and last the folder of labels.",
        ),
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
            help="Voxels that count: all, active, mask, band. Repeatable; all and active if "
            "left out.",
            autocompletion=one_of(*REGIONS),
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
    models, labels = parse_folders(folders)
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
    check_room(out, overwrite)
    found = measure_into(Work(models, labels, settings, images, jobs, dask), out)
    from gradsurge.cli.evaluate_output import print_results

    print_results(found, out, as_json)
    raise typer.Exit(1 if found.problems else 0)
