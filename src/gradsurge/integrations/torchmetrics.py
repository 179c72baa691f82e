"""The sketch as TorchMetrics metrics: ``pip install 'gradsurge[torchmetrics]'``."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from gradsurge.calibration import CalibrationSketch
from gradsurge.calibration.scores import BINS, in_bins
from gradsurge.calibration.sketch import Kind
from gradsurge.integrations.state import from_tensors, to_tensors
from gradsurge.integrations.update import (
    HIGHER_IS_BETTER,
    Input,
    check_input,
    check_scores,
    score_tensors,
    updated,
)

try:
    from torchmetrics import Metric
except ImportError as error:
    raise ImportError(
        "gradsurge.integrations.torchmetrics needs TorchMetrics: "
        "pip install 'gradsurge[torchmetrics]'"
    ) from error


class _SketchMetric(Metric):  # type: ignore[misc]  # torchmetrics is not followed by mypy
    """A sketch as the state of a metric: one int64 and one float64 vector, which ranks sum."""

    is_differentiable = False
    higher_is_better = None
    full_state_update = False  # forward counts a batch once
    plot_lower_bound = 0.0
    counts: Tensor
    sums: Tensor

    def __init__(
        self,
        input: Input,  # noqa: A002  # the word says what it is
        kind: Kind = "binary",
        classes: int | None = None,
        bins: int = BINS,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        check_input(input)
        self.input, self.kind, self.classes, self.bins = input, kind, classes, bins
        empty = self._empty()
        in_bins(empty.histograms[0], bins)  # refuses the number now, not after the epoch
        counts, sums = to_tensors(empty)
        self.add_state("counts", counts, dist_reduce_fx="sum")
        self.add_state("sums", sums, dist_reduce_fx="sum")

    def update(self, preds: Tensor, target: Tensor, mask: Tensor | None = None) -> None:
        """Count a batch; shapes as in `CalibrationSketch.update_logits`."""
        counts, sums = to_tensors(updated(self._empty(), self.input, preds, target, mask))
        self.counts = self.counts + counts.to(self.counts.device)
        self.sums = self.sums + sums.to(self.sums.device)

    def plot(self, val: Any = None, ax: Any = None) -> Any:
        """Draw the value, or several of them, as every TorchMetrics metric does.

        Args:
            val: what `compute` or `forward` returned, or a list of that; computed if left out.
            ax: axes to draw into.

        Returns:
            The figure and its axes.
        """
        return self._plot(val, ax)

    @property
    def sketch(self) -> CalibrationSketch:
        """What was counted: on this rank, or on all while the metric is synchronised."""
        return from_tensors(self._empty(), self.counts, self.sums)

    def _empty(self) -> CalibrationSketch:
        return CalibrationSketch(self.kind, self.classes)

    def _apply(
        self, fn: Callable[[Tensor], Tensor], exclude_state: Sequence[str] = ()
    ) -> torch.nn.Module:
        """Move devices as asked, but keep the dtypes: half a count is none.

        An MPS device knows no float64, so there the state stays on the CPU.
        """

        def move(tensor: Tensor) -> Tensor:
            device = fn(tensor.new_empty(0, dtype=torch.float32)).device
            return tensor if device.type == "mps" else tensor.to(device)

        moved: torch.nn.Module = super()._apply(move, exclude_state)
        return moved


class CalibrationMetric(_SketchMetric):
    """Calibration of all batches and ranks together, exact, in memory that does not grow.

    `compute` returns a dictionary of float64 scalars: nll, brier, ece, ace, mce, equal_mass_ece,
    auroc, average_precision, dice (at 1/2) and, but for multilabel, top_label_ece. `sketch` gives
    the rest: curves, thresholds, other numbers of bins.

    The state is one int64 and one float64 vector, which ranks sum. It keeps these dtypes whatever
    `half`, `to` or `set_dtype` ask of the model around it.

    Args:
        input: "logits" or "probabilities"; it is not guessed from the values.
        kind: "binary", "multiclass" or "multilabel", as in `CalibrationSketch`.
        classes: number of classes or channels; binary needs none.
        bins: of the calibration errors; a divisor of 25200.
        **options: those of every TorchMetrics metric.

    >>> metric = CalibrationMetric("probabilities", bins=10)
    >>> metric.update(torch.tensor([0.15, 0.25, 0.75, 0.85]), torch.tensor([0, 0, 1, 0]))
    >>> round(metric.compute()["ece"].item(), 4)
    0.375
    """

    def compute(self) -> dict[str, Tensor]:
        """Return the scores of everything counted, on all ranks."""
        return score_tensors(self.sketch, self.bins, self.device)


class CalibrationScore(_SketchMetric):
    """One score of `CalibrationMetric` as a number, for ``self.log`` of Lightning and the like.

    Several of them in a `MetricCollection` count each batch once: their states are equal, so the
    collection keeps one.

    Args:
        score: a name in the dictionary of `CalibrationMetric`, such as "nll" or "ece".
        input: "logits" or "probabilities"; it is not guessed from the values.
        kind: "binary", "multiclass" or "multilabel", as in `CalibrationSketch`.
        classes: number of classes or channels; binary needs none.
        bins: of the calibration errors; a divisor of 25200.
        **options: those of every TorchMetrics metric.

    >>> metric = CalibrationScore("brier", "probabilities")
    >>> metric.update(torch.tensor([0.25, 0.75]), torch.tensor([0, 1]))
    >>> metric.compute()
    tensor(0.0625, dtype=torch.float64)
    """

    def __init__(
        self,
        score: str,
        input: Input,  # noqa: A002  # the word says what it is
        kind: Kind = "binary",
        classes: int | None = None,
        bins: int = BINS,
        **options: Any,
    ) -> None:
        super().__init__(input, kind, classes, bins, **options)
        (self.score,) = check_scores((score,), self._empty(), bins)

    @property
    def higher_is_better(self) -> bool:  # type: ignore[override]
        """Whether a higher score is a better one."""
        return self.score in HIGHER_IS_BETTER

    def compute(self) -> Tensor:
        """Return the score of everything counted, on all ranks."""
        return score_tensors(self.sketch, self.bins, self.device)[self.score]
