"""The worst cases of each model, as pictures side by side."""

import math
from dataclasses import dataclass

from gradsurge.experiments.evaluation.result import CaseLook, Evaluation
from gradsurge.experiments.evaluation.scoring import headline_scores
from gradsurge.report.evaluation.overview import ModelEntry, model_entries
from gradsurge.report.evaluation.pictures import png_uri
from gradsurge.report.figures import case_look

# Noisy slices take about this many bytes a pixel and panel; three of the four panels count.
_BYTES_A_PIXEL = 0.6
_BUDGET = 1_200_000  # bytes for all pictures, so that the page can be sent by mail
_SIDES = (128, 360)


@dataclass(frozen=True)
class Panel:
    """A picture with its caption, and its colour bar if it has one."""

    title: str
    source: str
    bar: str | None


@dataclass(frozen=True)
class WorstCase:
    """A case of a model; ``scores`` are those that head the page."""

    model: ModelEntry
    case: str
    structure: str
    slice_name: str
    scores: dict[str, float]
    panels: list[Panel]


def worst_cases(evaluation: Evaluation) -> list[WorstCase]:
    """Draw the looks of models that are on the page."""
    entries = {entry.name: entry for entry in model_entries(evaluation)}
    looks = [look for look in evaluation.looks if look.model in entries]
    side = _side(len(looks))
    return [
        WorstCase(
            model=entries[look.model],
            case=look.case,
            structure=look.label_name,
            slice_name=look.slice_name,
            scores=_scores(evaluation, look),
            panels=_panels(look, side),
        )
        for look in looks
    ]


def _side(number: int) -> int:
    """Return how large pictures may be, if there are so many cases.

    >>> _side(9), _side(1), _side(500)
    (272, 360, 128)
    """
    fitting = math.isqrt(int(_BUDGET / (3 * _BYTES_A_PIXEL * max(number, 1))))
    return min(max(fitting, _SIDES[0]), _SIDES[1])


def _panels(look: CaseLook, side: int) -> list[Panel]:
    pictures = case_look.draw(case_look.compute(look, side))
    shown = [] if pictures.image is None else [Panel("Image", png_uri(pictures.image), None)]
    return [
        *shown,
        Panel("Label", png_uri(pictures.label), None),
        Panel("Probability p", png_uri(pictures.probability), "probability"),
        Panel("Error |p − y|", png_uri(pictures.error), "error"),
    ]


def _scores(evaluation: Evaluation, look: CaseLook) -> dict[str, float]:
    where = (look.case, evaluation.settings.regions[0], evaluation.headline)
    names = headline_scores(evaluation.settings, evaluation.dimensions)
    for row in evaluation.models[look.model].rows:
        if (row.case, row.region, row.label) == where:
            return {name: row.scores[name] for name in names if name in row.scores}
    return {}
