"""``gradsurge recalibrate --nnunet``: fit on the folds of an nnU-Net, apply to predictions."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NoReturn

import typer
from rich.markup import escape

from gradsurge.cli.output import check_directory, fail, progress_bar
from gradsurge.cli.recalibrate_output import print_applied, print_fit, print_problems

if TYPE_CHECKING:
    from gradsurge.experiments.nnunet.recalibrating import Fit
    from gradsurge.experiments.recalibrate_maps import FolderResult

FILE = "recalibration.json"
_NNUNET = "nnU-Net"


@dataclass(frozen=True)
class Order:
    """What was typed."""

    model: Path
    method: str
    labels: Path | None
    predictions: Path | None
    out: Path
    jobs: int
    overwrite: bool


def recalibrate_nnunet(
    context: typer.Context,
    nnunet: Annotated[
        Path | None,
        typer.Option(
            metavar="RESULTS",
            help="Trained nnU-Net (nnUNetTrainer__nnUNetPlans__3d_fullres): fit on its folds' "
            "validation cases; no COMMAND needed.",
            exists=True,
            file_okay=False,
            rich_help_panel=_NNUNET,
        ),
    ] = None,
    method: Annotated[
        Literal["temperature", "platt", "bias", "isotonic"],
        typer.Option(help="What to fit.", rich_help_panel=_NNUNET),
    ] = "temperature",
    labels: Annotated[
        Path | None,
        typer.Option(
            help="Their labels; where nnU-Net found them if left out.",
            exists=True,
            file_okay=False,
            rich_help_panel=_NNUNET,
        ),
    ] = None,
    predictions: Annotated[
        Path | None,
        typer.Option(
            help="Folder of nnUNetv2_predict --save_probabilities, to apply it to.",
            exists=True,
            file_okay=False,
            rich_help_panel=_NNUNET,
        ),
    ] = None,
    out: Annotated[
        Path,
        typer.Option(
            help="Folder for recalibration.json and the recalibrated maps.",
            callback=check_directory,
            rich_help_panel=_NNUNET,
        ),
    ] = Path("recalibrated"),
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs", "-j", help="Processes; 0 for one a core.", min=0, rich_help_panel=_NNUNET
        ),
    ] = 1,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace files.", rich_help_panel=_NNUNET)
    ] = False,
) -> None:
    """Recalibrate a model's probabilities, from sketches of evaluate, or those of an nnU-Net."""
    if context.invoked_subcommand is not None:
        for name in context.params:
            source = context.get_parameter_source(name)
            if source is not None and source.name == "COMMANDLINE":
                raise typer.BadParameter(f"--{name}: goes without {context.invoked_subcommand}")
        return
    if nnunet is None:
        typer.echo(context.get_help())
        raise typer.Exit(2)
    _carry_out(Order(nnunet, method, labels, predictions, out, jobs, overwrite))


def _carry_out(order: Order) -> NoReturn:
    """Fit, save, and apply where predictions are named; exit code 1 if a case could not be used."""
    file = order.out / FILE
    if file.exists() and not order.overwrite:
        raise typer.BadParameter(f"{file} is there already; replace it with --overwrite")
    if order.predictions is not None and order.out.resolve() == order.predictions.resolve():
        raise typer.BadParameter("--out: the results must go to another folder than --predictions")
    with _told_in_a_line():
        fit = _fit(order)
        order.out.mkdir(parents=True, exist_ok=True)
        fit.recalibration.save(file)
        print_problems(fit.problems)
        print_fit(fit.recalibration, file)
        _print_gain(fit)
        problems = list(fit.problems)
        if order.predictions is not None:
            result = _apply(order, order.predictions, fit)
            print_applied(result, order.out)
            problems += result.problems
    raise typer.Exit(1 if problems else 0)


def _fit(order: Order) -> "Fit":
    with progress_bar("loading", total=1) as (bar, task):
        from gradsurge.experiments.nnunet.recalibrating import fit_on_folds

        return fit_on_folds(
            order.model,
            order.method,
            order.labels,
            jobs=order.jobs,
            on_tasks=lambda n: bar.update(task, description="counting", total=n),
            on_case=lambda case: bar.update(task, description=escape(case), advance=1),
        )


def _apply(order: Order, predictions: Path, fit: "Fit") -> "FolderResult":
    with progress_bar("applying", total=1) as (bar, task):
        from gradsurge.experiments.nnunet.recalibrating import copy_companions
        from gradsurge.experiments.recalibrate_maps import MapSettings, recalibrate_folder

        result = recalibrate_folder(
            predictions,
            MapSettings(fit.recalibration, order.out),
            jobs=order.jobs,
            overwrite=order.overwrite,
            on_tasks=lambda n: bar.update(task, total=n),
            on_case=lambda case: bar.update(task, description=escape(case), advance=1),
        )
        copy_companions(predictions, order.out)
    return result


def _print_gain(fit: "Fit") -> None:
    """Print the NLL before and after, where the sketch can tell it."""
    from gradsurge.calibration.recalibration import compare_recalibrations

    before, after = compare_recalibrations(fit.sketch, fit.sketch, [fit.recalibration]).rows
    if after.is_scored:
        typer.echo(
            f"NLL of these {fit.cases} cases: {before.scores.nll:.4g} before, "
            f"{after.scores.nll:.4g} after"
        )


@contextmanager
def _told_in_a_line() -> Iterator[None]:
    from gradsurge.experiments.workers import WorkerError

    try:
        yield
    except (ValueError, WorkerError) as error:
        print_problems([p.message for p in getattr(error, "problems", [])])
        fail(error)
