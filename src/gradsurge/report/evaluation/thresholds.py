"""What the slider shows: Dice and counts of every model at 100 thresholds."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsurge.experiments.evaluation.result import Evaluation, Lens
from gradsurge.report.evaluation.numbers import finite
from gradsurge.report.evaluation.overview import ModelEntry
from gradsurge.report.evaluation.titles import region_title

START = 50  # the step the slider stands at: p > 0.5


@dataclass(frozen=True)
class ThresholdView:
    """A region and structure; ``models`` has None for a model without numbers there."""

    region: str
    label: str
    region_title: str
    structure: str
    models: list[dict[str, Any] | None]

    @property
    def steps(self) -> int:
        """Number of thresholds."""
        return next(len(found["thresholds"]) for found in self.models if found is not None)


def threshold_views(evaluation: Evaluation) -> list[ThresholdView]:
    """Return the views that at least one model has numbers for, in the order of the settings."""
    found = []
    for region in evaluation.settings.regions:
        for k, label in enumerate(evaluation.labels):
            lenses = [m.lenses.get((region, label)) for m in evaluation.models.values()]
            if any(lens is not None for lens in lenses):
                title = region_title(region, evaluation.settings)
                models = [None if lens is None else _numbers(lens) for lens in lenses]
                found.append(ThresholdView(region, str(k), title, label, models))
    return found


def slider_data(views: list[ThresholdView], models: list[ModelEntry]) -> dict[str, Any]:
    """Return what the page's script reads, as plain data."""
    return {
        "models": [
            {"colour": m.look.colour, "marker": m.look.marker, "dashes": list(m.look.dashes)}
            for m in models
        ],
        "views": [
            {
                "region": view.region,
                "label": view.label,
                "regionTitle": view.region_title,
                "structure": view.structure,
                "models": view.models,
            }
            for view in views
        ],
    }


def _numbers(lens: Lens) -> dict[str, Any]:
    curve, dice = lens.thresholds, lens.case_dice
    defined = (~np.isnan(dice)).sum(axis=0)
    means = np.where(defined, np.nansum(dice, axis=0), np.nan) / np.maximum(defined, 1)
    return {
        "thresholds": _plain(curve.thresholds),
        "dice": _plain(curve.dice),
        "mean": _plain(means),
        "cases": defined.tolist(),
        "tp": [int(n) for n in curve.true_positives],
        "fp": [int(n) for n in curve.false_positives],
        "fn": [int(n) for n in curve.false_negatives],
        "best": lens.best_threshold if finite(lens.best_threshold) else None,
        "bestDice": lens.best_dice if finite(lens.best_dice) else None,
    }


def _plain(values: NDArray[np.float64]) -> list[float | None]:
    """Return numbers that JSON knows; six decimals are more than are shown."""
    return [round(float(v), 6) if finite(float(v)) else None for v in values]
