"""What ``gradsurge train`` and ``gradsurge show`` print."""

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gradsurge.cli.aligned_numbers import aligned

if TYPE_CHECKING:
    from gradsurge.experiments.runs import RunResult
    from gradsurge.experiments.runs.history import RunHistory
    from gradsurge.experiments.runs.outcome import Outcome

_NAMES = {
    "none": "as it is",
    "equilibrium": "equilibrium",
    "bias": "bias (fitted here)",
    "temperature": "temperature (fitted here)",
}

_WIDTH = 110


def result_to_json(result: "RunResult") -> dict[str, Any]:
    """Return plain values."""
    return {
        "run": str(result.folder),
        "state": result.state,
        "step": result.step,
        "minutes": round(result.minutes, 3),
        "outcome": None if result.outcome is None else result.outcome.to_json(),
    }


def print_result(result: "RunResult") -> None:
    """Print the scores of a finished run, what they mean, and what to type next."""
    outcome = result.outcome
    if outcome is None:
        return
    folder = shlex.quote(str(result.folder))
    if result.state == "complete":
        typer.echo(f"{folder}: this run is finished; nothing to do.")
    Console().print(_score_table(outcome))
    for note in outcome.notes:
        typer.echo(f"note: {note}")
    typer.echo(_verdict(outcome))
    typer.echo(_threshold_line(outcome))
    if result.state == "finished":
        typer.echo(f"{outcome.steps} steps; this call took {result.minutes:.1f} minutes: {folder}")
    typer.echo(f"Next: gradsurge predict {folder} IMAGES OUT   (curves: gradsurge show {folder})")


def print_runs(runs: Sequence["RunHistory"]) -> None:
    """Print a line a run: as it is, and after the correction that it chose."""
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold")
    headings = ("run", "loss", "step", "min", "correction", "mask")
    for heading in (*headings, "NLL", "ECE", "Brier", "Dice"):
        left = heading in ("run", "loss", "correction", "mask")
        table.add_column(heading, justify="left" if left else "right", overflow="fold")
    rows = [_of_run(run) for run in runs]
    columns = [aligned([row[name] for row in rows]) for name in ("nll", "ece", "brier", "dice")]
    for row, *scores in zip(rows, *columns, strict=True):
        table.add_row(*(Text(str(row[name])) for name in headings), *scores)
    # A narrow terminal breaks lines; words broken within their cells are harder to read.
    Console(width=max(Console().width, _WIDTH)).print(table)


def _of_run(run: "RunHistory") -> Mapping[str, Any]:
    """Return the scores of a run's end, or of its last validation."""
    several = run.config.task.kind == "multiclass"
    facts = {
        "run": run.name,
        "loss": run.config.loss,
        "step": f"{run.step}/{run.config.training.steps}",
        "min": f"{run.minutes:.1f}",
    }
    if run.outcome is None:
        last = run.validations[-1].scores if run.validations else {}
        return {
            **facts,
            "correction": "–",
            "mask": _mask_rule(None, several),
            **{name: last.get(name) for name in ("nll", "ece", "brier", "dice")},
        }
    scores = run.outcome.scores[run.outcome.correction]
    found = {"nll": scores.nll, "ece": scores.ece, "brier": scores.brier}
    return {
        **facts,
        "correction": run.outcome.correction,
        "mask": _mask_rule(run.outcome.mask_thresholds, several),
        **found,
        "dice": run.outcome.mask_dice,
    }


def _mask_rule(thresholds: Sequence[float] | None, several: bool) -> str:
    """Return in a few words what a Dice is the Dice of."""
    if thresholds is None or all(t == 0.5 for t in thresholds):
        return "likeliest" if several else "p > 0.5"
    return f"p > {_listed(thresholds)}"


def _score_table(outcome: "Outcome") -> Table:
    title = f"{outcome.cases} validation cases, weights of step {outcome.step}"
    table = Table(title=title, title_justify="left")
    table.add_column("correction")
    names = {"nll": "NLL", "ece": "ECE", "brier": "Brier", "dice": "Dice"}
    columns = []
    for name, heading in names.items():
        table.add_column(heading, justify="right")
        columns.append(aligned([getattr(row, name) for row in outcome.scores.values()]))
    for correction, *cells in zip(outcome.scores, *columns, strict=True):
        chosen = correction == outcome.correction
        style = "bold" if chosen else ""
        table.add_row(_NAMES[correction], *cells, style=style)
    return table


def _verdict(outcome: "Outcome") -> str:
    raw, found = outcome.scores["none"].nll, outcome.scores.get("equilibrium")
    if found is None or raw is None or found.nll is None:
        return "Probabilities are used as they are."
    if outcome.correction == "equilibrium":
        return (
            f"Probabilities are corrected: the equilibrium lowered the NLL from {raw:.4g} to "
            f"{found.nll:.4g}."
        )
    return (
        f"Probabilities are used as they are: the equilibrium would have changed the NLL from "
        f"{raw:.4g} to {found.nll:.4g}."
    )


def _listed(thresholds: Sequence[float]) -> str:
    """Return thresholds, those close to 1 told from 1.

    >>> _listed((0.4312, 0.99983, 0.0004))
    '0.43, 0.9998, 0.0004'
    """
    return ", ".join(f"{t:.2f}" if 0.01 <= t <= 0.99 else f"{t:.4f}" for t in thresholds)


def _threshold_line(outcome: "Outcome") -> str:
    values = _listed(outcome.scores["none"].thresholds)
    theory = outcome.theory_thresholds
    beside = "" if theory is None else f" (theory: {_listed(theory)})"
    dice = outcome.threshold_dice
    reached = "" if dice is None else f", Dice {dice:.4f}"
    return f"Dice-optimal threshold of the raw probabilities: {values}{beside}{reached}"
