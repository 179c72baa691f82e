"""Lesions over cases: by size, and over thresholds."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsurge.calibration.lesion_table import lesion_table, quartile_edges
from gradsurge.calibration.lesions import CaseLesions, Lesion, numbered_components
from gradsurge.calibration.regions import bounding_box

THRESHOLDS = tuple(round(0.05 * k, 2) for k in range(1, 20))
"""Where detection and false positives are counted: 0.05, 0.1, ..., 0.95."""

Mask = NDArray[np.bool_]


@dataclass
class LesionTally:
    """Lesions of one structure after one correction.

    Attributes:
        lesions: of all cases, detected by p > 1/2 or the likeliest class.
        own_detected: whether the run's own mask has a voxel of each.
        false_positives: components of the plain mask that touch no lesion, of all cases.
        detected: lesions with a voxel above each of `THRESHOLDS`.
        false: components above each of `THRESHOLDS` that touch no lesion.
    """

    lesions: list[Lesion] = field(default_factory=list)
    own_detected: list[bool] = field(default_factory=list)
    false_positives: int = 0
    detected: NDArray[np.int64] = field(default_factory=lambda: np.zeros(len(THRESHOLDS), int))
    false: NDArray[np.int64] = field(default_factory=lambda: np.zeros(len(THRESHOLDS), int))

    def add(
        self, plain: CaseLesions, own: CaseLesions, p: NDArray[np.floating[Any]], truth: Mask
    ) -> None:
        """Add a case: its lesions by both masks, probabilities and label (*S)."""
        self.lesions += plain.lesions
        self.own_detected += [lesion.detected for lesion in own.lesions]
        self.false_positives += plain.false_positives
        detected, false = over_thresholds(p, truth)
        self.detected += detected
        self.false += false

    def sizes(self, edges: Sequence[float] | None = None) -> list[dict[str, float | None]]:
        """Return a row for each size: borders, number, detected by both masks, mean ECE.

        Args:
            edges: borders in mm³ (mm² in 2D); the quartiles of these lesions if None, which are
                those of the label and so the same for every model.
        """
        if edges is None:
            edges = quartile_edges([lesion.volume for lesion in self.lesions])
        plain = lesion_table(self.lesions, edges)
        pairs = zip(self.lesions, self.own_detected, strict=True)
        own = lesion_table([replace(x, detected=hit) for x, hit in pairs], edges)
        return [
            {
                "low": low,
                "high": row.high,
                "count": row.count,
                "detected": row.detected,
                "own_detected": other.detected,
                "ece": row.mean_ece,
                "top_ece": row.mean_top_label_ece,
            }
            for row, other, (low, _) in zip(plain, own, pairwise(edges), strict=True)
        ]


def over_thresholds(
    p: NDArray[np.floating[Any]], truth: Mask
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, for each of `THRESHOLDS`, lesions with p above it, and false components.

    A component of p > t is false if it touches no labelled voxel. Neighbours share a corner.

    >>> p = np.array([[0.97, 0.0, 0.3, 0.0, 0.6]])
    >>> hits, false = over_thresholds(p, np.array([[True, False, True, False, False]]))
    >>> hits[[0, 5, 18]].tolist(), false[[0, 10, 12]].tolist()
    ([2, 1, 1], [1, 1, 0])
    """
    neighbours = 26 if p.ndim == 3 else 8
    highest = _highest(p, truth, neighbours)
    hits = np.array([(highest > t).sum() for t in THRESHOLDS], np.int64)
    false = np.zeros(len(THRESHOLDS), np.int64)
    box = bounding_box(p > THRESHOLDS[0], margin=[0] * p.ndim)
    if box is None:
        return hits, false
    inside, label = p[box], truth[box]
    for k, threshold in enumerate(THRESHOLDS):
        pieces = numbered_components(inside > threshold, neighbours)
        true = np.count_nonzero(np.unique(pieces[label]))
        false[k] = int(pieces.max(initial=0)) - true
    return hits, false


def _highest(p: NDArray[np.floating[Any]], truth: Mask, neighbours: int) -> NDArray[Any]:
    """Return the highest p of each lesion."""
    box = bounding_box(truth, margin=[0] * truth.ndim)
    if box is None:
        return np.zeros(0)
    pieces = numbered_components(truth[box], neighbours)
    highest = np.zeros(int(pieces.max()) + 1, np.float64)
    np.maximum.at(highest, pieces.ravel(), p[box].ravel().astype(np.float64))
    return highest[1:]
