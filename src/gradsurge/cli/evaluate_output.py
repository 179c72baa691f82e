"""What ``gradsurge evaluate`` prints: tables on stdout, a line a problem on stderr."""

import json
from collections.abc import Sequence
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gradsurge.cli.aligned_numbers import aligned
from gradsurge.experiments.evaluation.files import as_json
from gradsurge.experiments.evaluation.result import Evaluation, ModelResult, Problem
from gradsurge.experiments.evaluation.result_folder import RESULTS
from gradsurge.experiments.evaluation.scoring import headline_scores
from gradsurge.experiments.evaluation.settings import Region
from gradsurge.experiments.statistics import MeanInterval


def print_results(evaluation: Evaluation, out: Path, json_only: bool) -> None:
    """Print what was found, in tables or as JSON, and what should not pass in silence."""
    if json_only:
        typer.echo(json.dumps(as_json(evaluation), indent=2))
    else:
        print_tables(evaluation)
        typer.echo(f"Written: {', '.join(str(out / name) for name in RESULTS)}")
    for note in evaluation.notes:
        typer.echo(f"gradsurge: note: {' '.join(note.split())}", err=True)
    print_problems(evaluation.problems)


def print_tables(evaluation: Evaluation) -> None:
    """Print a table a region, and the comparison of models."""
    console = Console()
    for region in evaluation.settings.regions:
        console.print(_scores(evaluation, region))
    if evaluation.comparisons:
        console.print(_comparison(evaluation))


def print_problems(problems: Sequence[Problem]) -> None:
    """Print one line a problem, and how many there were."""
    for problem in problems:
        line = " ".join(f"{problem.model}: {problem.case}: {problem.message}".split())
        typer.echo(f"gradsurge: problem: {line}", err=True)
    if len(problems) == 1:
        typer.echo("gradsurge: 1 problem; this case is left out", err=True)
    elif problems:
        typer.echo(f"gradsurge: {len(problems)} problems; these cases are left out", err=True)


def _scores(evaluation: Evaluation, region: Region) -> Table:
    names = _columns(evaluation)
    # Seven scores fit into 80 characters without blanks beside the lines; names are never cut off.
    padding = (0, 1 if evaluation.settings.surface_mm is None else 0)
    table = Table(title=_VOXELS[region], title_justify="left", padding=padding)
    table.add_column("model", overflow="fold")
    several = len(evaluation.labels) > 1
    if several:
        table.add_column("structure", overflow="fold")
    table.add_column("of", no_wrap=True)
    for name in names:
        table.add_column(name.replace("_", " ").upper(), justify="right", no_wrap=True)
    keys: list[list[str | Text]] = []
    rows: list[list[float | None]] = []
    for model in evaluation.models.values():
        for label in dict.fromkeys((*evaluation.labels, evaluation.headline)):
            # Text, not str: a name in [brackets] is no markup of ours.
            shown = [Text(model.name), Text(label)][: 1 + several]
            number = len(model.cases)
            keys.append([*shown, f"{number} case{'s' if number != 1 else ''}"])
            keys.append([*[""] * len(shown), "pooled"])
            means = [model.means.get((region, label, name)) for name in names]
            rows.append([None if mean is None else mean.mean for mean in means])
            rows.append(_pooled(model, region, label, names))
    columns = [aligned(column) for column in zip(*rows, strict=True)]
    for key, numbers in zip(keys, zip(*columns, strict=True), strict=True):
        table.add_row(*key, *numbers)
    return table


def _columns(evaluation: Evaluation) -> tuple[str, ...]:
    names = headline_scores(evaluation.settings, evaluation.dimensions)
    return names if evaluation.settings.surface_mm is None else (*names, "nsd", "hd95")


_VOXELS = {
    "all": "All voxels: mean over cases, and all cases pooled",
    "active": "Active region: label or mask, so it depends on the model",
    "mask": "Voxels of the mask files",
    "band": "Band round the boundary of the label",
}


def _pooled(
    model: ModelResult, region: Region, label: str, names: Sequence[str]
) -> list[float | None]:
    found = [r.scores for r in model.pooled if (r.region, r.label) == (region, label)]
    return [found[0].get(name) if found else None for name in names]


def _comparison(evaluation: Evaluation) -> Table:
    table = Table(
        title="Paired over cases: mean difference [95 % interval], Wilcoxon's p by Holm",
        title_justify="left",
    )
    for heading in ("models", "score"):
        table.add_column(heading)
    for heading in ("cases", "difference", "p (Holm)"):
        table.add_column(heading, justify="right", no_wrap=True)
    p_values = aligned([c.adjusted_p_value for c in evaluation.comparisons])
    for c, p_value in zip(evaluation.comparisons, p_values, strict=True):
        table.add_row(
            Text(f"{c.first} − {c.second}"),
            c.metric.replace("_", " ").upper(),
            str(c.cases),
            _interval(c.difference),
            p_value,
        )
    return table


def _interval(mean: MeanInterval) -> str:
    middle, low, high = aligned((mean.mean, mean.low, mean.high))
    return middle if mean.low is None or mean.high is None else f"{middle} [{low}, {high}]"
