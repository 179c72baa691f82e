"""``gradsurge predict``: probability maps and masks on the grids of the images."""

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.markup import escape

from gradsurge.cli.output import check_directory, fail, progress_bar
from gradsurge.cli.predict_output import print_prediction


def predict(
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN... INPUT OUT",
            help="Folders of gradsurge train, several for an ensemble; images (a file or folder: "
            "NIfTI, DICOM, PNG, TIFF) or a store; folder for the results.",
        ),
    ],
    correction: Annotated[
        Literal["auto", "none", "equilibrium", "bias", "temperature"],
        typer.Option(help="Of the probabilities; auto: what lowered the run's validation NLL."),
    ] = "auto",
    split: Annotated[
        str | None, typer.Option(help="Of a store: train, validation or test; all if left out.")
    ] = None,
    bits: Annotated[
        Literal["16", "32"],
        typer.Option(help="32: float32 maps. 16: integers k for k / 65535, half the size."),
    ] = "32",
    mirror: Annotated[
        bool, typer.Option("--mirror", help="Mean over all mirrored images; 4 to 8 times the work.")
    ] = False,
    overlap: Annotated[float, typer.Option(help="Of sliding windows, 0 to below 1.")] = 0.5,
    batch: Annotated[int, typer.Option(help="Windows in one go.", min=1)] = 1,
    device: Annotated[
        str, typer.Option(help="cpu, cuda, ...; auto: a GPU if there is one.")
    ] = "auto",
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace results that are there.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print predictions.json.")] = False,
) -> None:
    """Predict probabilities and masks of new images, with the images' own geometry.

    gradsurge predict runs/dice-surgery imagesTs predictions

    gradsurge predict runs/fold_0 runs/fold_1 runs/fold_2 imagesTs predictions

    Writes CASE.nii.gz (CASE.tif of pictures) with the probabilities, the mask of that name in
    masks/, and predictions.json with everything that was done. To measure the probabilities:
    gradsurge evaluate OUT LABELS.
    """
    if len(folders) < 3:
        raise typer.BadParameter("expected RUN, INPUT and OUT: gradsurge predict RUN INPUT OUT")
    *runs, place, out = folders
    check_directory(out)
    with progress_bar("loading", total=1) as (bar, task):
        from gradsurge.experiments.prediction.predicting import PredictCalls
        from gradsurge.experiments.prediction.predicting import predict as run
        from gradsurge.experiments.prediction.settings import PredictSettings
        from gradsurge.experiments.preparation import DiskFull
        from gradsurge.experiments.stopping import sigterm_interrupts

        calls = PredictCalls(
            on_tasks=lambda n: bar.update(task, total=n),
            on_case=lambda case: bar.update(task, description=escape(case)),
            on_share=lambda share: bar.update(task, advance=share),
        )
        try:
            settings = PredictSettings(
                correction, overlap, mirror, batch, 16 if bits == "16" else 32, device
            )
        except ValueError as error:
            raise typer.BadParameter(f"--{error}") from error
        try:
            with sigterm_interrupts():
                record = run(
                    runs, place, out, settings, split=split, overwrite=overwrite, calls=calls
                )
        except (ValueError, DiskFull) as error:
            fail(error)
        except KeyboardInterrupt as error:
            fail(f"stopped; what was finished is in {out}, and predictions.json lists it", error)
    print_prediction(record, out, as_json)
    raise typer.Exit(1 if record.failures or not record.cases else 0)
