"""The statistic at the centre of measuring: one pass over the voxels, any question afterwards."""

from copy import deepcopy
from os import PathLike
from typing import Literal, Self

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor
from torch.nn.functional import logsigmoid

from gradsurge.calibration import inputs, sketch_file
from gradsurge.calibration.filling import fill
from gradsurge.calibration.histogram import CLIP, RESOLUTION, Floats, Histogram
from gradsurge.calibration.known_cases import KnownCases
from gradsurge.calibration.one_against_rest import one_against_rest_nll
from gradsurge.calibration.sketch_scores import SketchScores
from gradsurge.calibration.temperature_curve import INVERSE_TEMPERATURES, nll_ladder
from gradsurge.calibration.top_label import binary_top_label, doubts
from gradsurge.calibration.voxels import Voxels
from gradsurge.calibration.whole_numbers import check_whole_number

Kind = Literal["binary", "multiclass", "multilabel"]
KINDS: tuple[Kind, ...] = ("binary", "multiclass", "multilabel")
_CHUNK = 1 << 21  # voxels that are turned to float64 at a time
_VIEW = 1 << 24  # voxels at a time where they are only looked at


class CalibrationSketch(SketchScores):
    """Calibration statistics of fixed size: update, add, save, then ask.

    Counts are int64 and sums float64, so that 10^10 voxels lose nothing. Sketches of cases,
    workers and machines add up (``a + b``, ``sum(sketches)``); add them in one order to get equal
    bits.

    Args:
        kind: "binary" (foreground against the rest), "multiclass" (exclusive classes: one lens a
            class, and the top label) or "multilabel" (channels that may overlap: a lens each).
        classes: C of a multiclass, number of channels of a multilabel sketch; binary has none.
        resolution: number R of uniform bins; numbers of bins that divide it are exact.

    >>> sketch = CalibrationSketch().update_probabilities(
    ...     np.array([0.1, 0.2, 0.8, 0.9]), np.array([0, 0, 1, 0])
    ... )
    >>> round(sketch.ece(bins=10), 4), round(sketch.brier(), 4), sketch.voxels
    (0.35, 0.225, 4)
    """

    def __init__(
        self, kind: Kind = "binary", classes: int | None = None, resolution: int = RESOLUTION
    ) -> None:
        if kind not in KINDS:
            raise ValueError(f"kind: expected one of {', '.join(KINDS)}, got {kind!r}")
        fewest = {"binary": 2, "multiclass": 2, "multilabel": 1}[kind]
        classes = 2 if kind == "binary" and classes is None else classes
        if classes is not None:
            check_whole_number("classes", classes)
        if classes is None or classes < fewest or (kind == "binary" and classes != 2):
            wanted = "2 or nothing" if kind == "binary" else f"a number from {fewest} on"
            raise ValueError(f"classes: a {kind} sketch expects {wanted}, got {classes}")
        self.kind: Kind = kind
        self.classes = classes
        number = 1 if kind == "binary" else classes
        self.histograms = [Histogram(resolution) for _ in range(number)]
        # Several classes together: the top label as (1 - confidence, wrong), so that the sure and
        # right voxels are the quiet ones; the sum of -log p_true; the same at other temperatures.
        self.mistakes = Histogram(resolution)
        self.joint_nll = 0.0
        self.joint_clipped = 0
        self.ladder: Floats = np.zeros_like(INVERSE_TEMPERATURES)
        self.cases = KnownCases()  # empty unless someone names what was counted

    def update_probabilities(
        self,
        probabilities: ArrayLike | Tensor,
        labels: ArrayLike | Tensor,
        mask: ArrayLike | Tensor | None = None,
    ) -> Self:
        """Count probabilities against hard labels, and return self.

        Args:
            probabilities: in [0, 1]. Binary: the labels' shape, or (N, 1 or 2, *S). Multiclass:
                (N, C, *S). Multilabel: (N, C, *S).
            labels: class indices (N, *S) or (N, 1, *S); multilabel 0 or 1, (N, C, *S).
            mask: boolean, (N, *S), true where a voxel counts; all if left out.
        """
        voxels = Voxels("probabilities", probabilities, labels, mask, self.kind, self.classes)
        size = _CHUNK if self.kind == "multiclass" else _VIEW
        for p, y in voxels.chunks(size):
            inputs.check_range("probabilities", p, 0.0, 1.0)
            if self.kind != "multilabel" and len(p) > 1:
                inputs.check_sums(p)
            inputs.check_labels(y, 2 if self.kind == "multilabel" else self.classes)
        for p, y in voxels.chunks(size):
            if self.kind == "multiclass":
                self._add_joint(p, y, -p.double().clamp_min(CLIP).log())
                self.joint_clipped += int((p.gather(0, y[None].long()) < CLIP).sum())
            else:
                self._add_separate(p, y)
        return self

    def update_logits(
        self,
        logits: ArrayLike | Tensor,
        labels: ArrayLike | Tensor,
        mask: ArrayLike | Tensor | None = None,
    ) -> Self:
        """Count a network's outputs before softmax or sigmoid; as `update_probabilities`.

        Nothing saturates and nothing is clipped: probabilities and likelihoods are computed from
        the logits in float64. One binary channel is the logit of the foreground.
        """
        voxels = Voxels("logits", logits, labels, mask, self.kind, self.classes)
        for z, y in voxels.chunks(_CHUNK):
            inputs.check_range("logits", z, -np.inf, np.inf)
            inputs.check_labels(y, 2 if self.kind == "multilabel" else self.classes)
        for z, y in voxels.chunks(_CHUNK):
            exact = z.double()
            if self.kind == "multiclass":
                log_p = exact.log_softmax(0)
                p = log_p.exp()
                self._add_joint(p, y, -log_p, one_against_rest_nll(p, -log_p, y))
                continue
            gap = exact[1:] - exact[:1] if self.kind == "binary" and len(z) == 2 else exact
            costs = -logsigmoid(torch.where(y.bool(), gap, -gap))
            # Summed by NumPy, whose order the number of threads does not change.
            self._add_separate(gap.sigmoid(), y, costs.numpy().sum(axis=1).tolist())
        return self

    @property
    def top_label(self) -> Histogram:
        """The histogram of confidence and correctness of the predicted class."""
        if self.kind == "multilabel":
            raise ValueError("top_label: channels of a multilabel sketch have no common top label")
        if self.kind == "binary":
            return binary_top_label(self.histograms[0])
        return self.mistakes.mirrored()

    def __add__(self, other: "CalibrationSketch | int") -> "CalibrationSketch":
        total = deepcopy(self)
        if isinstance(other, int) and other == 0:  # the start of sum()
            return total
        return total.__iadd__(other)

    __radd__ = __add__

    def __iadd__(self, other: "CalibrationSketch | int") -> Self:
        if not isinstance(other, CalibrationSketch):
            return NotImplemented
        if (self.kind, self.classes) != (other.kind, other.classes):
            raise ValueError(
                f"sketches of different kinds do not add up: {self.kind} of {self.classes} classes "
                f"and {other.kind} of {other.classes}"
            )
        for k, histogram in enumerate(other.histograms):
            self.histograms[k] += histogram
        self.mistakes += other.mistakes
        self.joint_nll += other.joint_nll
        self.joint_clipped += other.joint_clipped
        self.ladder = self.ladder + other.ladder
        self.cases += other.cases
        return self

    def __eq__(self, other: object) -> bool:
        """Return whether all counts and sums are equal, to the last bit, whatever the cases."""
        if not isinstance(other, CalibrationSketch):
            return NotImplemented
        mine, others = sketch_file.to_arrays(self), sketch_file.to_arrays(other)
        return all(np.array_equal(value, others[key]) for key, value in mine.items())

    __hash__ = None  # type: ignore[assignment]  # it changes

    def save(self, file: str | PathLike[str]) -> None:
        """Write an ``.npz`` (compressed, without pickle); a reader never sees half a file."""
        sketch_file.save(self, file)

    @classmethod
    def load(cls, file: str | PathLike[str]) -> "CalibrationSketch":
        """Read what `save` wrote; nothing is unpickled."""
        return sketch_file.load(cls, file)

    def _add_separate(self, p: Tensor, y: Tensor, nll: list[float] | None = None) -> None:
        for k, histogram in enumerate(self.histograms):
            outcome = inputs.as_flags(y[k] if self.kind == "multilabel" else y)
            channel = p[k] if self.kind == "multilabel" else p[-1]
            fill(histogram, channel.numpy(), outcome, None if nll is None else nll[k])

    def _add_joint(
        self, p: Tensor, y: Tensor, costs: Tensor, nll: list[float] | None = None
    ) -> None:
        """Count exclusive classes: p and ``costs`` = -log p are (C, V)."""
        for c, histogram in enumerate(self.histograms):
            known = None if nll is None else nll[c]
            fill(histogram, p[c].numpy(), inputs.flags_of(y, c), known)
        confidence, predicted = p.max(0)
        doubt = doubts(confidence.double(), self.mistakes.resolution)
        fill(self.mistakes, doubt.numpy(), (predicted != y).numpy())
        targets = y.long()
        self.joint_nll += float(costs.gather(0, targets[None]).numpy().sum())
        self.ladder = self.ladder + nll_ladder(-costs, targets)
