"""What is known of a run on held-out cases: plain numbers, small enough to keep."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Self

import numpy as np

from gradsurge.calibration.sketch import CalibrationSketch
from gradsurge.experiments.study.score_tally import ByRegion

DIGITS = 6
"""Significant digits: seeds differ in the third, rounding must not show in a mean of them."""


def plain(value: Any) -> Any:
    """Return plain JSON of nested numbers, texts, lists and mappings; NaN and infinity are None.

    >>> plain({"nll": np.float64(0.123456789), "counts": (1234567, float("nan"))})
    {'nll': 0.123457, 'counts': [1234567, None]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, float):
        return rounded(value)
    return value


def rounded(value: float) -> float | None:
    """Return a number with six significant digits; None for what is none.

    >>> rounded(87.59876543), rounded(float("inf"))
    (87.5988, None)
    """
    if not math.isfinite(value):
        return None
    return float(f"{value:.{DIGITS}g}")


_KEPT_APART = ("sketches",)


@dataclass(frozen=True)
class Measured:
    """A run on a split of a store, after every correction that it has.

    Attributes:
        split: which cases.
        cases: their names, those that failed left out.
        problems: (case, message) of the latter; (case and shift, message) of what could not be
            measured under a shift, which then has no number at that strength.
        dimensions: 2 or 3.
        structures: names; with several there is also the row `ALL` of them.
        headline: the structure that stands for all.
        likelihood: "logits" where the measured voxels are those of the network, which makes NLL
            exact; "probabilities" where they were resampled: P below 2^-24 then counts as that.
        default_correction: the run's own choice.
        pooled: correction -> region -> structure -> score, of all voxels together.
        means: the same shape, means over cases.
        dice: "plain" (p > 1/2 or the likeliest class of the raw probabilities) and "own" (the
            run's masks) -> structure -> mean over cases.
        by_case: correction -> region -> score -> a value a case, of the headline, for paired
            tests; all regions of "none", which has "dice" and "own_dice" too, and all voxels of
            every correction.
        lesions: structure -> correction -> rows of `LesionTally.sizes`.
        detection: structure -> "lesions", "cases", "thresholds", and correction -> "detected" and
            "false_positives", sums over cases, a number a threshold.
        logits: structure (or "classes") -> mean raw logits by class of the label, Table 8.
        volumes: structure -> "true", "own", "plain" and "expected" by correction.
        posterior: correction -> distances from the true posterior; "posterior" -> its own scores.
        shift: kind -> correction -> score -> a value a strength, pooled over all cases.
        sketches: correction -> region -> sketch; kept apart from the record.
    """

    split: str
    cases: Sequence[str]
    problems: Sequence[tuple[str, str]]
    dimensions: int
    structures: Sequence[str]
    headline: str
    likelihood: str
    default_correction: str
    pooled: Mapping[str, ByRegion]
    means: Mapping[str, ByRegion]
    dice: Mapping[str, Mapping[str, float]]
    by_case: Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]]
    lesions: Mapping[str, Mapping[str, Sequence[Mapping[str, float | None]]]]
    detection: Mapping[str, Mapping[str, Any]]
    logits: Mapping[str, Mapping[str, Any]]
    volumes: Mapping[str, Mapping[str, Any]]
    posterior: Mapping[str, Mapping[str, float]]
    shift: Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]] = field(default_factory=dict)
    sketches: Mapping[str, Mapping[str, CalibrationSketch]] = field(
        default_factory=dict, compare=False, repr=False
    )

    def to_json(self) -> dict[str, Any]:
        """Return plain values of six digits, None where there is no number; no sketches."""
        kept = (item.name for item in fields(self) if item.name not in _KEPT_APART)
        return {name: plain(getattr(self, name)) for name in kept}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """Return what `to_json` was made of, but for the digits; numbers may be None.

        Raises:
            ValueError: something is missing or unknown.
        """
        names = {item.name for item in fields(cls)} - set(_KEPT_APART)
        if strange := sorted(stored.keys() ^ names):
            raise ValueError(f"measured: missing or unknown: {', '.join(map(str, strange))}")
        return cls(**stored)
