"""``gradsurge recalibrate``: fit on sketches, compare, apply to prediction files."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Console
from rich.table import Table

from gradsurge.cli.output import check_directory, progress_bar

if TYPE_CHECKING:
    from gradsurge.calibration import CalibrationSketch
    from gradsurge.calibration.recalibration import Comparison, Recalibration

recalibrate = typer.Typer(help="Recalibrate a model's probabilities, from sketches of evaluate.")
Method = Literal["temperature", "platt", "bias", "isotonic"]
_Sketches = Annotated[
    list[Path],
    typer.Argument(
        metavar="SKETCH...", help="Sketches to fit on, added up.", exists=True, dir_okay=False
    ),
]


@recalibrate.callback()
def _recalibrate() -> None:
    """Recalibrate a model's probabilities, from sketches of evaluate."""


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
        return
    for name, value in found.parameters.items():
        typer.echo(f"{name}: {_short(value)}")
    if found.note:
        typer.echo(f"note: {found.note}")
    typer.echo(f"Written: {out}")


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
    try:
        methods: list[str | Recalibration] = [*FITTED, *map(load_recalibration, files or ())]
        found = compare_recalibrations(
            _total(fit_on), _total(score_on), methods, same_cases=same_cases or bool(shared)
        )
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    if as_json:
        typer.echo(json.dumps(found.to_dict(), indent=2))
    else:
        _print_table(found)


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
        bool,
        typer.Option("--channels-first", help="First axis of arrays and TIFFs is the channels'."),
    ] = False,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", help="Processes; 0 for one a core.", min=0)
    ] = 1,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files.")] = False,
) -> None:
    """Write recalibrated probability maps, with the format and geometry of the predictions."""
    if out.resolve() == predictions.resolve():
        raise typer.BadParameter("the results must go to another folder than the predictions")
    with progress_bar("loading", total=1) as (bar, task):
        from gradsurge.calibration.recalibration import load_recalibration
        from gradsurge.experiments.recalibrate_maps import find_maps, recalibration_work
        from gradsurge.experiments.workers import WorkerError, each_in_order

        try:
            work = recalibration_work(load_recalibration(file), out, logits, channels_first)
            tasks = find_maps(predictions)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from error
        there = [f.name for t in tasks for f in t.files if (out / f.name).exists()]
        if there and not overwrite:
            raise typer.BadParameter(f"{out / there[0]} is there already; --overwrite replaces it")
        out.mkdir(parents=True, exist_ok=True)
        bar.update(task, description="applying", total=len(tasks))
        problems = []
        try:
            for case, problem in each_in_order(work, tasks, jobs):
                bar.update(task, description=case, advance=1)
                problems += [f"{case}: {problem}"] if problem else []
        except WorkerError as error:
            problems.append(str(error))
    for line in problems:
        typer.echo(f"gradsurge: problem: {' '.join(line.split())}", err=True)
    typer.echo(f"Written: {len(tasks) - len(problems)} of {len(tasks)} cases to {out}")
    raise typer.Exit(1 if problems else 0)


def _total(files: list[Path]) -> "CalibrationSketch":
    from gradsurge.calibration import CalibrationSketch

    total = CalibrationSketch.load(files[0])
    for file in files[1:]:
        total += CalibrationSketch.load(file)
    return total


def _print_table(found: "Comparison") -> None:
    table = Table(title=found.caption, title_justify="left")
    table.add_column("recalibration")
    names = found.rows[0].scores._fields
    for name in names:
        table.add_column(name.replace("_", " ").upper(), justify="right")
    for row in found.rows:
        values = (getattr(row.scores, name) for name in names)
        table.add_row(row.method, *("–" if v != v else f"{float(v):.4g}" for v in values))
    Console().print(table)
    for row in found.rows:
        if row.note:
            typer.echo(f"{row.method}: {row.note}")


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) < 100 else f"{text[:96]} ..."
