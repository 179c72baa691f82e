"""Which numbers are known within a bound only, and where probabilities were clipped."""

from dataclasses import dataclass

from gradsurge.experiments.evaluation.result import Evaluation
from gradsurge.report.evaluation.numbers import finite
from gradsurge.report.evaluation.overview import ModelEntry, model_entries
from gradsurge.report.evaluation.titles import region_title


@dataclass(frozen=True)
class Exactness:
    """What the page says of its own numbers.

    Attributes:
        bounds: score -> the largest bound of pooled numbers, and of single cases.
        best_dice: what another threshold could gain at most in Dice over the best one found.
        clipped: models and (region, number) of outcomes that counted as more likely than they
            were given.
    """

    bounds: dict[str, tuple[float, float]]
    best_dice: float
    clipped: list[tuple[ModelEntry, list[tuple[str, int]]]]


def exactness(evaluation: Evaluation) -> Exactness:
    """Return the largest bounds over all models, regions and structures, and what was clipped."""
    models = evaluation.models.values()
    pooled = [row.bounds for model in models for row in model.pooled]
    cases = [row.bounds for model in models for row in model.rows]
    names = dict.fromkeys(name for found in (*pooled, *cases) for name in found)
    gains = [lens.best_dice.error for model in models for lens in model.lenses.values()]
    return Exactness(
        bounds={name: (_largest(pooled, name), _largest(cases, name)) for name in names},
        best_dice=max(filter(finite, gains), default=0.0),
        clipped=_clipped(evaluation),
    )


def _largest(bounds: list[dict[str, float]], name: str) -> float:
    return max((b[name] for b in bounds if finite(b.get(name))), default=0.0)


def _clipped(evaluation: Evaluation) -> list[tuple[ModelEntry, list[tuple[str, int]]]]:
    found = []
    for entry, model in zip(model_entries(evaluation), evaluation.models.values(), strict=True):
        counts = [
            (region_title(region, evaluation.settings), sketch.clipped)
            for region, sketch in model.sketches.items()
            if sketch.clipped
        ]
        if counts:
            found.append((entry, counts))
    return found
