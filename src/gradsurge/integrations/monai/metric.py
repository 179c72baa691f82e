"""The sketch as a MONAI metric, for MONAI's evaluators and loops."""

from typing import Any

import torch
from monai.metrics import CumulativeIterationMetric
from torch import Tensor

from gradsurge.calibration import CalibrationSketch
from gradsurge.calibration.scores import BINS, in_bins
from gradsurge.calibration.sketch import Kind
from gradsurge.integrations.labels import class_labels
from gradsurge.integrations.state import from_tensors, to_tensors
from gradsurge.integrations.update import Input, check_input, score_tensors, updated


class CalibrationSketchMetric(CumulativeIterationMetric):  # type: ignore[misc]  # untyped
    """Calibration of all batches and ranks together, exact, in memory that does not grow.

    Called with ``y_pred`` (N, C, *S) and ``y`` as other MONAI metrics are, or with lists of
    channel-first tensors. ``y`` holds class indices, (N, *S) or (N, 1, *S), or is one-hot,
    (N, C, *S); multilabel: a mask a channel. A call returns what the batch added, as flat vectors.

    `aggregate` gathers the ranks, sums them and returns a dictionary of float64 scalars: nll,
    brier, ece, ace, mce, equal_mass_ece, auroc, average_precision, dice (at 1/2) and, but for
    multilabel, top_label_ece. `sketch` gives the rest. Both must be called on every rank.

    Args:
        input: "logits" or "probabilities"; it is not guessed from the values.
        kind: "binary", "multiclass" or "multilabel", as in `CalibrationSketch`.
        classes: number of classes or channels; binary needs none.
        bins: of the calibration errors; a divisor of 25200.

    >>> metric = CalibrationSketchMetric("probabilities", bins=10)
    >>> _ = metric(torch.tensor([[[0.15, 0.25, 0.75, 0.85]]]), torch.tensor([[[0, 0, 1, 0]]]))
    >>> round(metric.aggregate()["ece"].item(), 4)
    0.375
    """

    def __init__(
        self,
        input: Input,  # noqa: A002  # the word says what it is
        kind: Kind = "binary",
        classes: int | None = None,
        bins: int = BINS,
    ) -> None:
        check_input(input)
        self.input, self.kind, self.classes, self.bins = input, kind, classes, bins
        in_bins(self._empty().histograms[0], bins)  # refuses the number now, not after the epoch
        super().__init__()

    def reset(self) -> None:
        """Forget what was counted. The buffers are never absent: a rank without a batch gathers."""
        super().reset()
        self._buffers: list[list[Tensor]] = [[vector] for vector in to_tensors(self._empty())]

    def extend(self, *data: Any) -> None:
        """Add batches of vectors to the one vector of each buffer."""
        super().extend(*data)
        self._buffers = [[torch.stack(rows).sum(0)] for rows in self._buffers]

    def aggregate(self) -> dict[str, Tensor]:
        """Return the scores of everything counted, on all ranks."""
        return score_tensors(self.sketch, self.bins, torch.device("cpu"))

    @property
    def sketch(self) -> CalibrationSketch:
        """What was counted on all ranks."""
        counts, sums = (rows.sum(0) for rows in self.get_buffer())
        return from_tensors(self._empty(), counts, sums)

    def _compute_tensor(
        self, y_pred: Tensor, y: Tensor | None = None, mask: Tensor | None = None
    ) -> list[Tensor]:
        if y is None:
            raise TypeError("y: expected a tensor of labels, got None")
        sketch = self._empty()
        labels = class_labels("y", y, y_pred, sketch)
        updated(sketch, self.input, y_pred, labels, mask)
        return [vector.unsqueeze(0) for vector in to_tensors(sketch)]

    def _empty(self) -> CalibrationSketch:
        return CalibrationSketch(self.kind, self.classes)
