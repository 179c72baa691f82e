"""What ``gradsurge evaluate`` prints: tables on stdout, a line a problem on stderr."""

import math
from collections.abc import Sequence

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gradsurge.experiments.evaluation.result import Evaluation, ModelResult, Problem
from gradsurge.experiments.evaluation.scoring import headline_scores
from gradsurge.experiments.evaluation.settings import Region
from gradsurge.experiments.statistics import MeanInterval


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
    names = headline_scores(evaluation.settings, evaluation.dimensions)
    table = Table(title=_VOXELS[region], title_justify="left")
    table.add_column("model")
    several = len(evaluation.labels) > 1
    if several:
        table.add_column("structure")
    table.add_column("of", no_wrap=True)
    for name in names:
        table.add_column(name.replace("_", " ").upper(), justify="right", no_wrap=True)
    for model in evaluation.models.values():
        for label in dict.fromkeys((*evaluation.labels, evaluation.headline)):
            # Text, not str: a name in [brackets] is no markup of ours.
            keys = [Text(model.name), Text(label)][: 1 + several]
            means = [model.means.get((region, label, name)) for name in names]
            found = [_number(mean.mean) if mean else "–" for mean in means]
            number = len(model.cases)
            table.add_row(*keys, f"{number} case{'s' if number != 1 else ''}", *found)
            table.add_row(*[""] * len(keys), "pooled", *_pooled(model, region, label, names))
    return table


_VOXELS = {
    "all": "All voxels: mean over cases, and all cases pooled",
    "active": "Active region: label or mask, so it depends on the model",
    "mask": "Voxels of the mask files",
    "band": "Band round the boundary of the label",
}


def _pooled(model: ModelResult, region: Region, label: str, names: Sequence[str]) -> list[str]:
    rows = [r.scores for r in model.pooled if (r.region, r.label) == (region, label)]
    return [_number(rows[0].get(name)) if rows else "–" for name in names]


def _comparison(evaluation: Evaluation) -> Table:
    table = Table(
        title="Paired over cases: mean difference [95 % interval], Wilcoxon's p by Holm",
        title_justify="left",
    )
    for heading in ("models", "score"):
        table.add_column(heading)
    for heading in ("cases", "difference", "p (Holm)"):
        table.add_column(heading, justify="right", no_wrap=True)
    for c in evaluation.comparisons:
        table.add_row(
            Text(f"{c.first} − {c.second}"),
            c.metric.replace("_", " ").upper(),
            str(c.cases),
            _interval(c.difference),
            _number(c.adjusted_p_value),
        )
    return table


def _interval(mean: MeanInterval | None) -> str:
    if mean is None or mean.mean is None:
        return "–"
    if mean.low is None or mean.high is None:
        return _number(mean.mean)
    return f"{_number(mean.mean)} [{_number(mean.low)}, {_number(mean.high)}]"


def _number(value: float | None) -> str:
    return "–" if value is None or not math.isfinite(value) else f"{value:.3g}"
