"""What ``gradsurge predict`` prints."""

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from gradsurge.experiments.prediction.record import Record


def print_prediction(record: "Record", out: Path, as_json: bool) -> None:
    """Print a line a problem on stderr, and what was written, or predictions.json."""
    for case, problem in record.failures:
        typer.echo(f"gradsurge: problem: {' '.join(f'{case}: {problem}'.split())}", err=True)
    if as_json:
        typer.echo(json.dumps(record.to_json(), indent=2))
        return
    about = record.about
    names = dict.fromkeys(run["correction"] for run in about["runs"])
    total = len(record.cases) + len(record.failures)
    typer.echo(f"Written: {len(record.cases)} of {total} cases to {out}")
    typer.echo(f"correction of the probabilities: {', '.join(names)}; mask: {_mask(record)}")
    if record.cases:
        typer.echo(f"To measure them: {_evaluate(record, out)}")


def _mask(record: "Record") -> str:
    mask = record.about["mask"]
    limits = ", ".join(f"{name} {value:.3g}" for name, value in (mask["thresholds"] or {}).items())
    return f"{mask['rule']} ({limits})" if limits else str(mask["rule"])


def _evaluate(record: "Record", out: Path) -> str:
    labels = str(out / "labels") if "label" in record.cases[0] else "LABELS"
    told = record.about["probabilities"]
    options = ["--multilabel"] if told["regions"] else []
    # Labels that predict wrote have the numbers of the store.
    source = None if "label" in record.cases[0] else told["source_classes"]
    for name, numbers in (told["regions"] or source or {}).items():
        options += ["--label", f"{name}={','.join(map(str, numbers))}"]
    return shlex.join(["gradsurge", "evaluate", str(out), labels, *options])
