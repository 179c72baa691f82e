"""Tables of scores: what heads the page, and every score by region and structure."""

from dataclasses import dataclass

from gradsurge.experiments.evaluation.definitions import DEFINITIONS
from gradsurge.experiments.evaluation.result import Evaluation, ModelResult
from gradsurge.experiments.evaluation.scoring import headline_scores
from gradsurge.experiments.evaluation.settings import ALL, Region
from gradsurge.report.evaluation.numbers import finite
from gradsurge.report.evaluation.overview import ModelEntry, model_entries
from gradsurge.report.evaluation.titles import better, region_title


@dataclass
class Cell:
    """A number of a table; ``best`` if no model has a better one."""

    value: float | None
    low: float | None = None
    high: float | None = None
    best: bool = False


@dataclass
class Line:
    """A model's numbers: means over cases, and of all voxels together."""

    model: ModelEntry
    means: list[Cell]
    pooled: list[Cell]
    voxels: float | None


@dataclass
class Group:
    """The models' lines for a structure; ``columns`` are names of scores."""

    structure: str
    columns: list[str]
    lines: list[Line]


@dataclass
class ScoreTable:
    """Groups of one region."""

    region: str
    groups: list[Group]


def headline_table(evaluation: Evaluation) -> ScoreTable:
    """Return the scores that head the page, in the primary region, a line a model."""
    region = evaluation.settings.regions[0]
    columns = list(headline_scores(evaluation.settings, evaluation.dimensions))
    labels = [evaluation.headline] if evaluation.labels else []
    groups = [_group(evaluation, region, label, columns) for label in labels]
    for group in groups:
        for k, name in enumerate(columns):
            _mark_best(name, [line.means[k] for line in group.lines])
    return ScoreTable(region_title(region, evaluation.settings), groups)


def region_tables(evaluation: Evaluation) -> list[ScoreTable]:
    """Return every score that a structure has, a table a region, a group a structure."""
    labels = [*evaluation.labels, *([ALL] if len(evaluation.labels) > 1 else [])]
    means = [where for m in evaluation.models.values() for where in m.means]
    tables = []
    for region in evaluation.settings.regions:
        groups = []
        for label in labels:
            found = {name for *where, name in means if where == [region, label]}
            columns = [name for name in DEFINITIONS if name in found]
            groups.append(_group(evaluation, region, label, columns))
        tables.append(ScoreTable(region_title(region, evaluation.settings), groups))
    return tables


def _group(evaluation: Evaluation, region: Region, label: str, columns: list[str]) -> Group:
    models = zip(model_entries(evaluation), evaluation.models.values(), strict=True)
    lines = [_line(entry, model, region, label, columns) for entry, model in models]
    return Group(label, columns, lines)


def _line(
    entry: ModelEntry, model: ModelResult, region: Region, label: str, columns: list[str]
) -> Line:
    pooled = next(
        (row.scores for row in model.pooled if (row.region, row.label) == (region, label)), {}
    )
    return Line(
        model=entry,
        means=[_mean(model, region, label, name) for name in columns],
        pooled=[Cell(pooled.get(name)) for name in columns],
        voxels=pooled.get("voxels"),
    )


def _mean(model: ModelResult, region: Region, label: str, name: str) -> Cell:
    found = model.means.get((region, label, name))
    return Cell(None) if found is None else Cell(found.mean, found.low, found.high)


def _mark_best(name: str, cells: list[Cell]) -> None:
    values = [cell.value for cell in cells if cell.value is not None and finite(cell.value)]
    if len(set(values)) < 2 or not better(name):
        return
    best = max(values) if better(name) == "higher" else min(values)
    for cell in cells:
        cell.best = cell.value == best
