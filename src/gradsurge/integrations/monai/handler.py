"""Calibration scores in the metrics of MONAI's engines."""

import warnings
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

import torch
from monai.engines.workflow import Workflow
from monai.handlers import IgniteMetricHandler, from_engine
from monai.utils import CommonKeys
from torch import Tensor

from gradsurge.calibration import CalibrationSketch
from gradsurge.calibration.scores import BINS
from gradsurge.calibration.sketch import Kind
from gradsurge.integrations.monai.metric import CalibrationSketchMetric
from gradsurge.integrations.update import USUAL_SCORES, Input, check_scores


class CalibrationHandler(IgniteMetricHandler):  # type: ignore[misc]  # untyped
    """Counts an engine's outputs; at the end of an epoch its scores are among the metrics.

    Attached under a name, as `key_val_metric` or `additional_metrics` do: for ``"val"`` and the
    default scores ``engine.state.metrics`` gets val_nll, val_ece, val_brier and val_dice, and
    under "val" the first of them, so that a checkpoint can be chosen by it. MONAI takes higher
    numbers for better ones: of the NLL say otherwise in both places, to the engine with
    ``metric_cmp_fn`` and to ``CheckpointSaver`` with ``key_metric_negative_sign=True``.

    Logits are counted as they leave the network, before any post-processing, which often turns
    them into masks. Probabilities are counted after it: so recalibrated ones can be measured.

    Args:
        input: "logits" or "probabilities"; it is not guessed from the values.
        kind: "binary", "multiclass" or "multilabel", as in `CalibrationSketch`.
        classes: number of classes or channels; binary needs none.
        bins: of the calibration errors; a divisor of 25200.
        scores: names, see `CalibrationSketchMetric`; the first is the key metric.
        output_transform: from the engine's output to (prediction, label); by default its items
            "pred" and "label".

    Raises:
        ImportError: pytorch-ignite, which MONAI's engines are made of, is missing.
    """

    def __init__(
        self,
        input: Input,  # noqa: A002  # the word says what it is
        kind: Kind = "binary",
        classes: int | None = None,
        bins: int = BINS,
        scores: Sequence[str] = USUAL_SCORES,
        output_transform: Callable[[Any], Any] | None = None,
    ) -> None:
        if find_spec("ignite") is None:
            raise ImportError(
                "CalibrationHandler needs pytorch-ignite: pip install 'gradsurge[monai]'; without "
                "engines there is CalibrationSketchMetric"
            )
        metric = CalibrationSketchMetric(input, kind, classes, bins)
        self.scores = check_scores(scores, metric.sketch, bins)
        chosen = output_transform or from_engine([CommonKeys.PRED, CommonKeys.LABEL])
        super().__init__(metric, output_transform=chosen, save_details=False)

    @property
    def sketch(self) -> CalibrationSketch:
        """What was counted on all ranks, to save or to fit on; to be asked on every rank."""
        sketch: CalibrationSketch = self.metric_fn.sketch
        return sketch

    def attach(self, engine: Any, name: str) -> None:
        """Attach to an engine; its ``state.metrics`` get the scores under this name."""
        from ignite.engine import Events
        from ignite.metrics.metric import Metric, MetricUsage
        from monai.engines import IterationEvents

        before_postprocessing = self.metric_fn.input == "logits" and isinstance(engine, Workflow)
        count = Events.ITERATION_COMPLETED
        if before_postprocessing:
            count = IterationEvents.FORWARD_COMPLETED
        usage = MetricUsage(Events.EPOCH_STARTED, Events.EPOCH_COMPLETED, count)
        Metric.attach(self, engine, name, usage)
        self._engine, self._name = engine, name

    def update(self, output: Sequence[Tensor]) -> None:
        """Count a batch of (prediction, label)."""
        super().update(output)
        if self.metric_fn.input == "probabilities" and _is_mask(output[0]):
            warnings.warn(
                "CalibrationHandler: every probability of a batch is 0 or 1. Has AsDiscreted made "
                "masks of them? Count input='logits', or keep the probabilities under a key of "
                "their own and name it in output_transform",
                stacklevel=2,
            )

    def compute(self) -> dict[str, float]:
        """Return the chosen scores of everything counted, on all ranks."""
        found = self.metric_fn.aggregate()
        return {name: found[name].item() for name in self.scores}

    def completed(self, engine: Any, name: str) -> None:
        """Write the scores into the engine's metrics."""
        found = self.compute()
        engine.state.metrics[name] = found[self.scores[0]]
        for score, value in found.items():
            engine.state.metrics[f"{name}_{score}"] = value


def _is_mask(probabilities: Tensor | Sequence[Tensor]) -> bool:
    parts = [probabilities] if isinstance(probabilities, Tensor) else list(probabilities)
    return bool(parts) and all(
        bool(((p == 0) | (p == 1)).all()) for p in map(torch.as_tensor, parts)
    )
