"""``predictions.json``: what was done, for whoever finds the files later."""

import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import torch

import gradsurge
from gradsurge.data.store import DatasetFile, replace_json
from gradsurge.experiments.prediction.listed_files import FORMAT, NAME, VERSION
from gradsurge.experiments.prediction.mask_rule import MaskRule
from gradsurge.experiments.prediction.predictor import Predictor
from gradsurge.experiments.prediction.probabilities import map_names
from gradsurge.experiments.prediction.settings import PredictSettings
from gradsurge.experiments.prediction.voxel_files import FULL_SCALE

__all__ = ["NAME", "Record", "describe", "source_classes"]


@dataclass
class Record:
    """The content of predictions.json; written anew after each case.

    Attributes:
        about: what holds for all cases.
        cases: those that were predicted.
        failures: (case, message) of the others.
        complete: False while the work goes on, or if it was broken off.
    """

    about: dict[str, Any]
    cases: list[dict[str, Any]] = field(default_factory=list)
    failures: list[tuple[str, str]] = field(default_factory=list)
    complete: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "complete": self.complete,
            **self.about,
            "cases": self.cases,
            "failures": [{"case": case, "problem": problem} for case, problem in self.failures],
        }

    def write(self, folder: Path) -> None:
        """Write it; a reader never sees half of it."""
        replace_json(folder / NAME, self.to_json())


def describe(
    predictors: Sequence[Predictor],
    rule: MaskRule,
    settings: PredictSettings,
    device: torch.device,
    place: Path,
    split: str | None,
) -> dict[str, Any]:
    """Return what holds for all cases."""
    task, dimensions = rule.task, len(predictors[0].window)
    sums = task.kind == "multiclass"
    return {
        "input": str(place),
        "split": split,
        "runs": [predictor.to_json() for predictor in predictors],
        "ensemble": "mean of corrected probabilities" if len(predictors) > 1 else None,
        "correction": settings.correction,
        "probabilities": {
            "channels": map_names(task),
            "kind": task.kind,
            "regions": dict(zip(task.names, map(list, task.regions), strict=False)) or None,
            "source_classes": source_classes(predictors[0].dataset),
            "sum_to_1": sums,
            "type": "float32" if settings.bits == 32 else "uint16",
            "scale": 1.0 if settings.bits == 32 else 1.0 / FULL_SCALE,
        },
        "mask": rule.to_json(),
        "windows": {
            "overlap": settings.overlap,
            "weights": "gaussian, sigma 0.125 of the window",
            "mean_of": "logits; softmax or sigmoid after it, before resampling",
            "mirrored_axes": list(range(dimensions)) if settings.mirror else [],
            "batch": settings.batch,
        },
        "device": str(device),
        "versions": {
            "gradsurge": gradsurge.__version__,
            "torch": torch.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def source_classes(dataset: DatasetFile) -> dict[str, list[int]] | None:
    """Return the foreground class -> its numbers in the source's label files, if they differ.

    A store may have made one class of several, or of number 2: labels in the raw folder have not.
    """
    numbers = dataset.settings.get("foreground")
    if not isinstance(numbers, list | tuple) or set(dataset.label_names) != {0, 1}:
        return None
    return None if list(numbers) == [1] else {dataset.label_names[1]: list(numbers)}
