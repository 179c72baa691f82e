"""Lesions by size: how many are found, and how well calibrated the model is on them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from gradsurge.calibration.lesions import Lesion
from gradsurge.calibration.reliability import wilson

# Size classes [low, high) of the paper's KiTS table, in mm^3: minimum (three voxels of 1.5 mm) and
# quartiles of the test lesions. "Below 4 cm^3" in its text reads as the first quarter, below 4346:
# the three rows' rates are multiples of 1/77, 1/78 and 1/78, as equal quarters give.
# The rows small, large and very large are KITS_EDGES_MM3[1:].
KITS_EDGES_MM3 = (10.125, 4346.0, 15913.0, 63596.0, math.inf)


@dataclass(frozen=True)
class SizeClass:
    """Lesions with low <= volume < high; None for no upper bound, or nothing to average."""

    low: float
    high: float | None
    count: int
    detected: int
    detection_rate: float | None
    detection_interval: tuple[float, float] | None
    mean_ece: float | None
    mean_top_label_ece: float | None


def lesion_table(
    lesions: Sequence[Lesion], edges: Sequence[float] | None = None, *, confidence: float = 0.95
) -> list[SizeClass]:
    """Return a row for each size class [low, high): detection with Wilson's interval, mean ECE.

    A lesion counts once, whatever its size. The interval takes lesions as independent, which
    those of one case are not quite: read it as the least uncertainty.

    Args:
        lesions: of all cases.
        edges: rising volumes, in the unit of the lesions'; inf for no upper bound. Lesions outside
            them are in no row. By default the quartiles of the lesions.
        confidence: of the intervals.
    """
    bounds = quartile_edges([x.volume for x in lesions]) if edges is None else list(edges)
    pairs = list(pairwise(bounds))
    if not pairs or not all(low < high for low, high in pairs):
        raise ValueError(f"edges: expected at least two rising numbers, got {bounds}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence: expected a number between 0 and 1, got {confidence}")
    return [
        _size_class([x for x in lesions if low <= x.volume < high], low, high, confidence)
        for low, high in pairs
    ]


def quartile_edges(volumes: Sequence[float]) -> list[float]:
    """Return 0, the quartiles of the volumes, and inf; equal quartiles are one edge.

    >>> quartile_edges([1.0, 2.0, 3.0, 4.0, 5.0])
    [0.0, 2.0, 3.0, 4.0, inf]
    """
    if len(volumes) == 0:
        return [0.0, math.inf]
    inner = np.unique(np.quantile(np.asarray(volumes, np.float64), (0.25, 0.5, 0.75)))
    return [0.0, *inner[inner > min(volumes)].tolist(), math.inf]


def _size_class(members: list[Lesion], low: float, high: float, confidence: float) -> SizeClass:
    count, detected = len(members), sum(x.detected for x in members)
    upper = None if math.isinf(high) else high
    if count == 0:
        return SizeClass(low, upper, 0, 0, None, None, None, None)
    ends = wilson(np.array([detected / count]), np.array([float(count)]), confidence)
    return SizeClass(
        low=low,
        high=upper,
        count=count,
        detected=detected,
        detection_rate=detected / count,
        detection_interval=(ends[0].item(), ends[1].item()),
        mean_ece=math.fsum(x.ece for x in members) / count,
        mean_top_label_ece=math.fsum(x.top_label_ece for x in members) / count,
    )
