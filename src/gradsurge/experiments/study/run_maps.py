"""A run at work on one case: logits once, then probabilities after every correction."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gradsurge.calibration.recalibration import Recalibration
from gradsurge.data import CaseError
from gradsurge.data.grid import Grid
from gradsurge.experiments.prediction.device import find_device
from gradsurge.experiments.prediction.mask_rule import MaskRule, mask_rule
from gradsurge.experiments.prediction.on_source import channel_on_source, decided_on_source
from gradsurge.experiments.prediction.predictor import Predictor, predictor_of
from gradsurge.experiments.prediction.probabilities import map_names
from gradsurge.experiments.runs.corrections import NONE
from gradsurge.experiments.runs.recalibrated_counts import corrected, corrected_logits
from gradsurge.experiments.runs.task import Task
from gradsurge.experiments.runs.trained_run import TrainedRun
from gradsurge.experiments.runs.whole_cases import evaluating
from gradsurge.training.inference import sliding_window_logits


@dataclass(frozen=True)
class RunMaps:
    """A trained run and its corrections, ready to be measured.

    Attributes:
        predictor: its network on the device, without correction.
        corrections: by name; None for "none", which comes first.
        rule: of its own masks.
        device: of the network.
    """

    predictor: Predictor
    corrections: dict[str, Recalibration | None]
    rule: MaskRule
    device: torch.device

    @classmethod
    def of(cls, run: TrainedRun, device: str = "auto") -> "RunMaps":
        """Open a run on a device; "auto" is an accelerator if there is one.

        Raises:
            ValueError: there is no such device.
        """
        where = find_device(device)
        predictor = predictor_of(run, NONE, where)
        rule = mask_rule(run.task, run.config.dataset, predictor.thresholds)
        return cls(predictor, {NONE: None, **run.corrections}, rule, where)

    @property
    def task(self) -> Task:
        """What the network tells."""
        return self.predictor.task

    def logits(self, image: NDArray[np.float32]) -> Tensor:
        """Return (K, *T) on the CPU for a prepared image (C, *T): the one inference of a case.

        Raises:
            CaseError: the network makes nothing of it.
        """
        model = self.predictor.model
        with evaluating(model):
            logits = sliding_window_logits(
                model,
                torch.from_numpy(image),
                self.predictor.window,
                device=self.device,
                divisor=getattr(model, "divisor", 1),
            )
        if not bool(torch.isfinite(logits).all()):
            raise CaseError(
                f"the network of {self.predictor.run} returns NaN or infinite values for it; look "
                f"at the image's intensities, or train anew"
            )
        return logits

    def probabilities(
        self, logits: Tensor, correction: str, grid: Grid | None
    ) -> NDArray[np.float32]:
        """Return (C, *S) after a correction: softmax on the prepared voxels, then resampling."""
        names = map_names(self.task)
        p = corrected(self.task, self.corrections[correction], logits)[-len(names) :].numpy()
        background = len(names) - len(self.task.names)
        channels = [channel_on_source(c, grid, float(i < background)) for i, c in enumerate(p)]
        return np.stack(channels)

    def corrected_logits(self, logits: Tensor, correction: str) -> NDArray[Any]:
        """Return logits (C, *T) after a correction, which likelihoods are exact of."""
        how = self.corrections[correction]
        return (logits if how is None else corrected_logits(self.task, how, logits)).numpy()

    def own_masks(self, logits: Tensor, grid: Grid | None) -> NDArray[np.bool_]:
        """Return bool (F, *S): the masks that ``gradsurge predict`` writes."""
        raw = self.task.foreground_of(self.task.probabilities(logits))
        numbers = decided_on_source([c.numpy() for c in raw], self.rule, grid)
        return self.task.foreground(torch.from_numpy(np.ascontiguousarray(numbers))).numpy()
