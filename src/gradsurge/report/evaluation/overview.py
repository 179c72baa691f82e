"""What was measured, on what, and what was left out."""

from dataclasses import dataclass

from gradsurge.experiments.evaluation.result import Evaluation, Problem
from gradsurge.experiments.evaluation.settings import Settings
from gradsurge.report.evaluation.titles import region_title
from gradsurge.report.figures.model_looks import ModelLook, model_look

_PROFILES = {
    "foreground": "foreground: the structure's own probability",
    "paper": "paper: confidence in the predicted class",
}


@dataclass(frozen=True)
class ModelEntry:
    """A model in legends and lists."""

    index: int
    name: str
    look: ModelLook
    folder: str
    cases: int
    problems: int


@dataclass(frozen=True)
class Overview:
    """The first section of the page.

    Attributes:
        facts: terms and what they are.
        models: in their order.
        problems: what was left out, and why.
        scored: cases that at least one model was scored on.
        shared: cases that every model was scored on.
    """

    facts: list[tuple[str, str]]
    models: list[ModelEntry]
    problems: list[Problem]
    scored: int
    shared: int


def overview(evaluation: Evaluation) -> Overview:
    """Return what the page says before any number."""
    cases = [set(model.cases) for model in evaluation.models.values()]
    return Overview(
        facts=_facts(evaluation),
        models=model_entries(evaluation),
        problems=evaluation.problems,
        scored=len(set().union(*cases)),
        shared=len(set.intersection(*cases)) if cases else 0,
    )


def model_entries(evaluation: Evaluation) -> list[ModelEntry]:
    """Return the models with the signs that stand for them."""
    return [
        ModelEntry(i, m.name, model_look(i), str(m.folder), len(m.cases), len(m.problems))
        for i, m in enumerate(evaluation.models.values())
    ]


def _facts(evaluation: Evaluation) -> list[tuple[str, str]]:
    settings = evaluation.settings
    facts = [
        ("Labels", str(evaluation.label_folder)),
        ("Structures", _structures(evaluation)),
        ("Regions", "; ".join(region_title(region, settings) for region in settings.regions)),
        ("Profile", _PROFILES[settings.profile]),
        ("Files hold", _contents(settings)),
        ("Dimensions", f"{evaluation.dimensions}D" if evaluation.dimensions else "unknown"),
        ("Bins", _bins(settings)),
        ("Cases with an empty label", "scored" if settings.allow_empty else "left out"),
    ]
    if settings.masks is not None:
        facts.append(("Masks", str(settings.masks)))
    if settings.surface_mm is not None:
        facts.append(("Surface tolerance", f"{settings.surface_mm:g} mm"))
    return facts


def _bins(settings: Settings) -> str:
    voxels = "voxel" if settings.minimum == 1 else "voxels"
    return f"{settings.bins} of equal width; for MCE, of at least {settings.minimum} {voxels}"


def _structures(evaluation: Evaluation) -> str:
    values = {s.name: ", ".join(map(str, s.values)) for s in evaluation.settings.label_sets}
    named = [
        f"{name} (label {values[name]})" if name in values else name for name in evaluation.labels
    ]
    return "; ".join(named) or "none"


def _contents(settings: Settings) -> str:
    what = "logits" if settings.logits else "probabilities"
    return f"{what} of channels that may overlap" if settings.multilabel else what
