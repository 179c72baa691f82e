"""What a prediction needs of a trained run."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from gradsurge.calibration.recalibration import Recalibration
from gradsurge.data.case_error import shown
from gradsurge.data.store import DatasetFile
from gradsurge.experiments.prediction.settings import AUTO
from gradsurge.experiments.runs.corrections import NONE
from gradsurge.experiments.runs.task import Task
from gradsurge.experiments.runs.trained_run import TrainedRun


@dataclass(frozen=True)
class Predictor:
    """A network with what belongs to it.

    Attributes:
        run: its folder.
        step: of its weights.
        dataset: facts of the store it was trained on: they hold the preprocessing.
        task: what the outputs are.
        window: voxels it looks at together.
        model: in eval mode.
        correction_name: what is done to the probabilities.
        correction: the same; None for nothing.
        thresholds: of the mask, on uncorrected probabilities, one a foreground class or region;
            None for the likeliest class.
    """

    run: str
    step: int
    dataset: DatasetFile
    task: Task
    window: tuple[int, ...]
    model: nn.Module
    correction_name: str
    correction: Recalibration | None
    thresholds: tuple[float, ...] | None

    def to_json(self) -> dict[str, Any]:
        """Return what is told of it."""
        return {
            "run": self.run,
            "step": self.step,
            "window": list(self.window),
            "correction": self.correction_name,
            "parameters": None if self.correction is None else self.correction.parameters,
            "thresholds": None if self.thresholds is None else list(self.thresholds),
        }


def predictor_of(run: TrainedRun, correction: str, device: torch.device) -> Predictor:
    """Return what is needed of a run.

    Args:
        run: that has ended.
        correction: "auto" for the run's own choice, or the name of one.
        device: where the network goes.

    Raises:
        ValueError: the run has no such correction.
    """
    name = run.default_correction if correction == AUTO else correction
    if name != NONE and name not in run.corrections:
        there = ", ".join((NONE, *run.corrections))
        raise ValueError(
            f"correction: {shown(run.folder)} has no {name!r}, which needs a surgery loss; it has: "
            f"{there}"
        )
    return Predictor(
        run=str(run.folder),
        step=run.outcome.step,
        dataset=run.config.dataset,
        task=run.task,
        window=tuple(run.config.model.patch),
        model=run.model().to(device),
        correction_name=name,
        correction=None if name == NONE else run.corrections[name],
        thresholds=_mask_thresholds(run),
    )


def _mask_thresholds(run: TrainedRun) -> tuple[float, ...] | None:
    """Return the measured thresholds; None where the likeliest class was no worse.

    One class, or regions, have nothing but thresholds. Of exclusive classes the validation cases
    have told both: mean Dice of the likeliest class and of the thresholds.
    """
    plain, thresholded = run.outcome.scores[NONE].dice, run.outcome.threshold_dice
    if run.task.kind == "multiclass" and (
        plain is None or thresholded is None or thresholded <= plain
    ):
        return None
    return run.threshold
