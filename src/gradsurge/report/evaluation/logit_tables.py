"""How large logits are inside and outside of each structure (the paper's Table 8)."""

from dataclasses import dataclass

from gradsurge.calibration.logit_table import LogitTable
from gradsurge.experiments.evaluation.result import Evaluation
from gradsurge.report.evaluation.overview import ModelEntry, model_entries


@dataclass(frozen=True)
class LogitSection:
    """Tables of all models that share one set of classes.

    Attributes:
        structure: what the classes belong to; None if the classes are the structures.
        classes: names of rows and columns.
        kinds: "logits", "log-probabilities", or both if models differ.
        clipped: whether probabilities too small to tell were counted as 2**-24.
    """

    structure: str | None
    classes: list[str]
    kinds: list[str]
    clipped: bool
    models: list[tuple[ModelEntry, LogitTable]]


def logit_sections(evaluation: Evaluation) -> list[LogitSection]:
    """Return a section for each set of classes that any model has logits of."""
    entries = model_entries(evaluation)
    keys = dict.fromkeys(
        (key, sums.classes) for m in evaluation.models.values() for key, sums in m.logits.items()
    )
    sections = []
    for key, number in keys:
        tables = [
            (entry, model.logits[key].means())
            for entry, model in zip(entries, evaluation.models.values(), strict=True)
            if key in model.logits and model.logits[key].classes == number
        ]
        sections.append(_section(evaluation, key, number, tables))
    return sections


def _section(
    evaluation: Evaluation, key: str, number: int, tables: list[tuple[ModelEntry, LogitTable]]
) -> LogitSection:
    single = key in evaluation.labels and number == 2
    return LogitSection(
        structure=key if single else None,
        classes=["background", key] if single else _class_names(evaluation.labels, number),
        kinds=sorted({table.kind for _, table in tables if table.kind is not None}),
        clipped=any(table.clipped for _, table in tables),
        models=tables,
    )


def _class_names(labels: list[str], number: int) -> list[str]:
    """Name exclusive classes after the structures, if there are as many."""
    if len(labels) == number - 1:
        return ["background", *labels]
    return ["background", *(f"class {c}" for c in range(1, number))]
