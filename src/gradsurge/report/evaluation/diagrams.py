"""The figures of the page, each with what is said under it."""

import math
from dataclasses import dataclass
from typing import Generic, TypeVar

from gradsurge.experiments.evaluation.result import Evaluation, ModelResult
from gradsurge.experiments.evaluation.scoring import headline_scores
from gradsurge.experiments.evaluation.settings import ALL, Region
from gradsurge.report.evaluation.overview import ModelEntry, model_entries
from gradsurge.report.evaluation.pictures import svg_uri
from gradsurge.report.evaluation.titles import region_title
from gradsurge.report.figures import case_distributions, reliability

T = TypeVar("T")


@dataclass(frozen=True)
class ReliabilityDiagram:
    """A model's diagram, and its pooled scores; ``few`` counts bins of few voxels."""

    model: ModelEntry
    source: str
    scores: dict[str, float]
    few: int


@dataclass(frozen=True)
class Distribution:
    """A score over cases; ``missing`` counts values that cannot be drawn."""

    score: str
    source: str
    missing: int


@dataclass(frozen=True)
class View(Generic[T]):
    """Diagrams of one region and structure; ``label`` is the structure's number, or "all"."""

    region: str
    label: str
    region_title: str
    structure: str
    diagrams: list[T]


def reliability_views(evaluation: Evaluation) -> list[View[ReliabilityDiagram]]:
    """Draw a diagram a model for each region and structure that has one."""
    found = []
    for region in evaluation.settings.regions:
        for k, label in enumerate(evaluation.labels):
            if diagrams := _reliability(evaluation, region, label):
                title = region_title(region, evaluation.settings)
                found.append(View(region, str(k), title, label, diagrams))
    return found


def distribution_views(evaluation: Evaluation) -> list[View[Distribution]]:
    """Draw every headline score over cases, for each region and structure, and all of them."""
    labels = [(str(k), label) for k, label in enumerate(evaluation.labels)]
    if len(labels) > 1:
        labels.insert(0, ("all", ALL))
    found = []
    for region in evaluation.settings.regions:
        for key, label in labels:
            if diagrams := _distributions(evaluation, region, label):
                title = region_title(region, evaluation.settings)
                found.append(View(region, key, title, label, diagrams))
    return found


def _reliability(evaluation: Evaluation, region: Region, label: str) -> list[ReliabilityDiagram]:
    here = [
        (entry, model, model.lenses[region, label].reliability)
        for entry, model in zip(model_entries(evaluation), evaluation.models.values(), strict=True)
        if (region, label) in model.lenses
    ]
    diagrams = []
    for entry, model, curve in here:
        data = reliability.compute(curve, [other for e, _, other in here if e is not entry])
        diagrams.append(
            ReliabilityDiagram(
                model=entry,
                source=svg_uri(reliability.draw(data, entry.look)),
                scores=_pooled(model, region, label),
                few=int(data.few.sum()),
            )
        )
    return diagrams


def _pooled(model: ModelResult, region: Region, label: str) -> dict[str, float]:
    for row in model.pooled:
        if (row.region, row.label) == (region, label):
            return row.scores
    return {}


def _distributions(evaluation: Evaluation, region: Region, label: str) -> list[Distribution]:
    looks = [entry.look for entry in model_entries(evaluation)]
    rows = [
        [row.scores for row in model.rows if (row.region, row.label) == (region, label)]
        for model in evaluation.models.values()
    ]
    found = []
    for name in headline_scores(evaluation.settings, evaluation.dimensions):
        data = case_distributions.compute(
            [[scores.get(name, math.nan) for scores in of_model] for of_model in rows]
        )
        if any(len(values) for values in data.values):
            source = svg_uri(case_distributions.draw(data, looks))
            found.append(Distribution(name, source, sum(data.missing)))
    return found
