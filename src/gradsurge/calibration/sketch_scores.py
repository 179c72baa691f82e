"""The questions a sketch answers without touching voxels again."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from gradsurge.calibration import equal_mass, ranking, reliability, scores, thresholds
from gradsurge.calibration.bounded import Bounded
from gradsurge.calibration.histogram import Histogram
from gradsurge.calibration.scores import BINS

Score = Callable[[Histogram], float]


class SketchScores(ABC):
    """Scores of a sketch.

    Where a sketch has several classes, a score is the mean over its foreground classes, each
    against the rest; ``per_class`` gives them one by one. Exact up to float64 rounding: `nll`,
    `brier`, `ece`, `ace`, `mce`, `sharpness`, `reliability`, and `dice_at` a multiple of 1/R.
    Within a bound, which the returned number carries as ``.error``: `equal_mass_ece`, `auroc`,
    `average_precision`, `best_threshold`, and `dice_at` other thresholds.
    """

    kind: Literal["binary", "multiclass", "multilabel"]
    classes: int
    histograms: list[Histogram]
    joint_nll: float
    joint_clipped: int

    @property
    @abstractmethod
    def top_label(self) -> Histogram:
        """The histogram of confidence and correctness of the predicted class."""

    @property
    def voxels(self) -> int:
        """Number of voxels counted."""
        return self.histograms[0].total

    @property
    def clipped(self) -> int:
        """Number of outcomes whose probability was given as less than 2^-24."""
        if self.kind == "multiclass":
            return self.joint_clipped
        return sum(h.clipped for h in self.histograms)

    @property
    def foreground(self) -> dict[int, Histogram]:
        """The histograms that scores are averaged over, by class (multilabel: channel)."""
        if self.kind == "binary":
            return {1: self.histograms[0]}
        first = 1 if self.kind == "multiclass" else 0
        return dict(list(enumerate(self.histograms))[first:])

    def nll(self) -> float:
        """Mean of -log P(label); multilabel: mean over channels too. In nats."""
        if self.kind == "multiclass":
            return self.joint_nll / self.voxels if self.voxels else math.nan
        return self._mean(scores.nll)

    def brier(self, form: Literal["single", "sum"] = "single") -> float:
        """Mean of (p - y)^2 of the foreground, or summed over all classes.

        Two classes: the sum is twice the single form. Multilabel: summed over the channels.
        """
        if form not in ("single", "sum"):
            raise ValueError(f"form: expected 'single' or 'sum', got {form!r}")
        if form == "single":
            return self._mean(scores.brier)
        total = float(sum(scores.brier(h) for h in self.histograms))
        return 2 * total if self.kind == "binary" else total

    def ece(self, bins: int = BINS) -> float:
        """Expected calibration error of the foreground probability, equal-width bins (lo, hi]."""
        return self._mean(lambda h: scores.ece(h, bins))

    def ace(self, bins: int = BINS) -> float:
        """Average calibration error: bins not weighted by their counts."""
        return self._mean(lambda h: scores.ace(h, bins))

    def mce(self, bins: int = BINS, minimum: int = 1) -> float:
        """Maximum calibration error over bins with at least ``minimum`` voxels."""
        return self._mean(lambda h: scores.mce(h, bins, minimum))

    def class_wise_ece(self, bins: int = BINS) -> float:
        """ECE averaged over all classes, the background included."""
        if self.kind == "binary":
            background = scores.ece(self.histograms[0].mirrored(), bins)
            return (background + self.ece(bins)) / 2
        return float(np.mean([scores.ece(h, bins) for h in self.histograms]))

    def sharpness(self) -> float:
        """Mean of p(1-p): the Brier score if these forecasts were calibrated."""
        return self._mean(scores.sharpness)

    def equal_mass_ece(self, bins: int = BINS) -> Bounded:
        """ECE in bins of equally many voxels."""
        return self._bounded(lambda h: equal_mass.equal_mass_ece(h, bins))

    def auroc(self) -> Bounded:
        """Area under the ROC curve."""
        return self._bounded(ranking.auroc)

    def average_precision(self) -> Bounded:
        """Average precision."""
        return self._bounded(ranking.average_precision)

    def dice_at(self, threshold: float = 0.5) -> Bounded:
        """Dice of the mask p > threshold, over all voxels together."""
        return self._bounded(lambda h: thresholds.dice_at(h, threshold))

    def best_threshold(self, label: int | None = None) -> thresholds.BestThreshold:
        """Return the Dice-optimal threshold of a class (multilabel: channel) and its Dice."""
        return thresholds.best_threshold(self.lens(label))

    def reliability(
        self, bins: int = BINS, label: int | None = None, confidence: float = 0.95
    ) -> reliability.ReliabilityCurve:
        """Return the reliability curve of a class (multilabel: channel)."""
        return reliability.reliability_curve(self.lens(label), bins, confidence)

    def lens(self, label: int | None = None) -> Histogram:
        """Return the histogram of a class; without a number there must be only one."""
        found = self.foreground
        if label is None:
            if len(found) > 1:
                raise ValueError(f"label: which class? expected one of {sorted(found)}")
            return next(iter(found.values()))
        if self.kind == "multiclass" and label == 0:
            return self.histograms[0]
        if label not in found:
            raise ValueError(f"label: expected one of {sorted(found)}, got {label}")
        return found[label]

    def per_class(self, score: Score) -> dict[int, float]:
        """Return a score of each foreground class: ``sketch.per_class(scores.ece)``."""
        return {c: score(h) for c, h in self.foreground.items()}

    def _mean(self, score: Score) -> float:
        return _mean_of(list(self.per_class(score).values()))

    def _bounded(self, score: Callable[[Histogram], Bounded]) -> Bounded:
        found = [score(h) for h in self.foreground.values()]
        return Bounded(_mean_of(found), _mean_of([b.error for b in found]))


def _mean_of(values: Sequence[float]) -> float:
    """Mean of what is defined: a class without voxels has no AUROC."""
    kept = [float(v) for v in values if not math.isnan(v)]
    return sum(kept) / len(kept) if kept else math.nan
