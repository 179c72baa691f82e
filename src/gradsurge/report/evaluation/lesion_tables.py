"""Lesions by size: how many were found, and how sure the model was of them."""

import math
from dataclasses import dataclass

from gradsurge.calibration.lesion_table import SizeClass, lesion_table
from gradsurge.experiments.evaluation.lesion_sizes import size_edges
from gradsurge.experiments.evaluation.result import Evaluation, LesionSummary, ModelResult
from gradsurge.report.evaluation.numbers import score
from gradsurge.report.evaluation.overview import ModelEntry, model_entries


@dataclass(frozen=True)
class ModelLesions:
    """A model's rows of size classes, one of all sizes, and what it made up."""

    model: ModelEntry
    rows: list[tuple[str, SizeClass]]
    predicted: int
    false: int
    false_a_case: float | None
    outside: int


@dataclass(frozen=True)
class LesionSection:
    """A structure's table; ``quartiles`` if the classes come from the lesions themselves."""

    structure: str
    unit: str
    quartiles: bool
    models: list[ModelLesions]


def lesion_sections(evaluation: Evaluation) -> list[LesionSection]:
    """Return a table for each structure with lesions or false ones."""
    found = []
    for label in evaluation.labels:
        models = [
            (entry, model)
            for entry, model in zip(
                model_entries(evaluation), evaluation.models.values(), strict=True
            )
            if label in model.lesions
        ]
        if any(m.lesions[label].lesions or m.lesions[label].false_positives for _, m in models):
            found.append(_section(evaluation, label, models))
    return found


def _section(
    evaluation: Evaluation, label: str, models: list[tuple[ModelEntry, ModelResult]]
) -> LesionSection:
    edges = size_edges(evaluation, label)
    return LesionSection(
        structure=label,
        unit="mm²" if evaluation.dimensions == 2 else "mm³",
        quartiles=evaluation.settings.lesion_edges is None,
        models=[
            _of_model(entry, model.lesions[label], len(model.cases), edges)
            for entry, model in models
        ],
    )


def _of_model(
    entry: ModelEntry, summary: LesionSummary, cases: int, edges: list[float]
) -> ModelLesions:
    classes = lesion_table(summary.lesions, edges)
    rows = [(_sizes(row), row) for row in classes]
    if len(rows) > 1:
        rows.append(("all sizes", lesion_table(summary.lesions, (0.0, math.inf))[0]))
    return ModelLesions(
        model=entry,
        rows=rows,
        predicted=summary.predicted_components,
        false=summary.false_positives,
        false_a_case=summary.false_positives / cases if cases else None,
        outside=len(summary.lesions) - sum(row.count for row in classes),
    )


def _sizes(row: SizeClass) -> str:
    """Name a size class.

    >>> _sizes(SizeClass(0.0, 12.5, 0, 0, None, None, None, None))
    'below 12.5'
    """
    if row.high is None:
        return f"{score(row.low)} and more" if row.low > 0 else "any size"
    return f"{score(row.low)} to {score(row.high)}" if row.low > 0 else f"below {score(row.high)}"
