"""``gradsurge recalibrate``: fit on sketches, compare, apply to prediction files."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.markup import escape

from gradsurge.cli.output import check_directory, progress_bar
from gradsurge.cli.recalibrate_nnunet import recalibrate_nnunet
from gradsurge.cli.recalibrate_output import print_applied, print_comparison, print_fit

if TYPE_CHECKING:
    from gradsurge.calibration import CalibrationSketch
    from gradsurge.calibration.recalibration import Recalibration
    from gradsurge.experiments.recalibrate_maps import FolderResult

recalibrate = typer.Typer(help="Recalibrate a model's probabilities, from sketches of evaluate.")
recalibrate.callback(invoke_without_command=True)(recalibrate_nnunet)
Method = Literal["temperature", "platt", "bias", "isotonic"]
_Sketches = Annotated[
    list[Path],
    typer.Argument(
        metavar="SKETCH...", help="Sketches to fit on, added up.", exists=True, dir_okay=False
    ),
]


@recalibrate.command()
def fit(
    method: Annotated[Method, typer.Argument(help="What to fit.")],
    sketches: _Sketches,
    out: Annotated[Path, typer.Option(help="File for the recalibration.")] = Path(
        "recalibration.json"
    ),
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Fit a recalibration on validation cases: sketches/MODEL/pooled.all.npz, or single cases."""
    if out.exists() and not overwrite:
        raise typer.BadParameter(f"{out} is there already; replace it with --overwrite")
    from gradsurge.calibration.recalibration import fit_recalibration

    try:
        found = fit_recalibration(method, _total(sketches), ", ".join(map(str, sketches)))
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    found.save(out)
    if as_json:
        typer.echo(out.read_text(encoding="utf-8"))
    else:
        print_fit(found, out)


@recalibrate.command()
def compare(
    fit_on: Annotated[
        list[Path],
        typer.Option(help="Sketches to fit on; repeatable.", exists=True, dir_okay=False),
    ],
    score_on: Annotated[
        list[Path],
        typer.Option(help="Sketches of other cases to score on.", exists=True, dir_okay=False),
    ],
    files: Annotated[
        list[Path] | None,
        typer.Option("--with", help="A recalibration file too; repeatable.", exists=True),
    ] = None,
    same_cases: Annotated[
        bool, typer.Option("--same-cases", help="Say that fit and score share cases.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print scores before and after each recalibration, fitted on some cases, scored on others."""
    from gradsurge.calibration.recalibration import (
        FITTED,
        compare_recalibrations,
        load_recalibration,
    )

    shared = {p.resolve() for p in fit_on} & {p.resolve() for p in score_on}
    said = True if same_cases or shared else None  # else the sketches know, or nobody does
    try:
        methods: list[str | Recalibration] = [*FITTED, *map(load_recalibration, files or ())]
        found = compare_recalibrations(_total(fit_on), _total(score_on), methods, same_cases=said)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    if as_json:
        typer.echo(json.dumps(found.to_dict(), indent=2))
    else:
        print_comparison(found, fit_on)


@recalibrate.command()
def apply(
    file: Annotated[
        Path, typer.Argument(help="Recalibration file of fit.", exists=True, dir_okay=False)
    ],
    predictions: Annotated[
        Path, typer.Argument(help="Folder of predictions.", exists=True, file_okay=False)
    ],
    out: Annotated[Path, typer.Argument(help="Folder for the results.", callback=check_directory)],
    logits: Annotated[
        bool, typer.Option("--logits", help="The files hold logits, not probabilities.")
    ] = False,
    channels_first: Annotated[
        bool | None,
        typer.Option(
            "--channels-first/--no-channels",
            help="Arrays and TIFFs have a channel axis, the first (flat NIfTI: the last); or none.",
        ),
    ] = None,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", help="Processes; 0 for one a core.", min=0)
    ] = 1,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files.")] = False,
) -> None:
    """Write recalibrated probability maps, with the format and geometry of the predictions."""
    if out.resolve() == predictions.resolve():
        raise typer.BadParameter("the results must go to another folder than the predictions")
    result = _apply(file, predictions, out, logits, channels_first, jobs, overwrite)
    print_applied(result, out)
    raise typer.Exit(1 if result.problems else 0)


def _apply(
    file: Path,
    predictions: Path,
    out: Path,
    logits: bool,
    channels_first: bool | None,
    jobs: int,
    overwrite: bool,
) -> "FolderResult":
    with progress_bar("loading", total=1) as (bar, task):
        from gradsurge.calibration.recalibration import load_recalibration
        from gradsurge.experiments.recalibrate_maps import MapSettings, recalibrate_folder

        try:
            return recalibrate_folder(
                predictions,
                MapSettings(load_recalibration(file), out, logits, channels_first),
                jobs=jobs,
                overwrite=overwrite,
                on_tasks=lambda n: bar.update(task, description="applying", total=n),
                on_case=lambda case: bar.update(task, description=escape(case), advance=1),
            )
        except ValueError as error:
            raise typer.BadParameter(str(error)) from error


def _total(files: list[Path]) -> "CalibrationSketch":
    from gradsurge.calibration import CalibrationSketch

    total = CalibrationSketch.load(files[0])
    for file in files[1:]:
        total += CalibrationSketch.load(file)
    return total
