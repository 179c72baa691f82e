"""Before and after: what each recalibration is worth, and on which cases that was found out."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gradsurge.calibration.recalibration.catalogue import FITTED, fit_recalibration
from gradsurge.calibration.recalibration.recalibrated_scores import (
    ScoreRow,
    original_scores,
    recalibrated_scores,
)
from gradsurge.calibration.recalibration.recalibration import Recalibration
from gradsurge.calibration.sketch import CalibrationSketch

SAME_CASES = "fitted and scored on the same cases: too good for new ones"
_NOT_IN_SKETCH = "what is missing is not in a multiclass sketch: apply it to the maps and measure"


@dataclass(frozen=True)
class ComparisonRow:
    """A method and its scores; the first row, "none", is the model as it is."""

    method: str
    scores: ScoreRow
    recalibration: Recalibration | None = None
    note: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers for JSON; None for what is not available."""
        values = self.scores._asdict()
        return {
            "method": self.method,
            **{name: _plain(value) for name, value in values.items()},
            "errors": {name: _plain(value.error) for name, value in values.items()},
            "parameters": None if self.recalibration is None else self.recalibration.parameters,
            "note": self.note,
        }


@dataclass(frozen=True)
class Comparison:
    """Rows of scores, and whether they are honest.

    Attributes:
        rows: the model as it is, then each recalibration.
        same_cases: whether fit and scores come from the same cases.
        fit_voxels, score_voxels: how many voxels either had.
    """

    rows: tuple[ComparisonRow, ...]
    same_cases: bool
    fit_voxels: int
    score_voxels: int

    @property
    def caption(self) -> str:
        """One line that must stand over the table."""
        if self.same_cases:
            return f"{SAME_CASES} ({self.score_voxels} voxels)"
        return f"fitted on {self.fit_voxels} voxels, scored on {self.score_voxels} of other cases"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "caption": self.caption,
            "same_cases": self.same_cases,
            "fit_voxels": self.fit_voxels,
            "score_voxels": self.score_voxels,
            "rows": [row.to_dict() for row in self.rows],
        }


def compare_recalibrations(
    fit_on: CalibrationSketch,
    score_on: CalibrationSketch,
    methods: Sequence[str | Recalibration] = tuple(FITTED),
    *,
    same_cases: bool,
) -> Comparison:
    """Fit each method on one sketch and score it on another.

    Args:
        fit_on: of the validation cases.
        score_on: of the test cases.
        methods: names to fit, or recalibrations that exist already, `Equilibrium` for one.
        same_cases: whether the two share cases. Equal sketches count as the same whatever is said.

    >>> import numpy as np
    >>> p, y = np.repeat([0.2, 0.8], 100), np.repeat([0, 1, 0, 1], [60, 40, 40, 60])
    >>> sketch = CalibrationSketch().update_probabilities(p, y)
    >>> table = compare_recalibrations(sketch, sketch, ["temperature"], same_cases=True)
    >>> [(row.method, round(float(row.scores.ece), 3)) for row in table.rows]
    [('none', 0.2), ('temperature', 0.0)]
    >>> table.caption
    'fitted and scored on the same cases: too good for new ones (200 voxels)'
    """
    rows = [ComparisonRow("none", original_scores(score_on))]
    for method in methods:
        found = fit_recalibration(method, fit_on) if isinstance(method, str) else method
        notes = [found.note]
        if found.kind == "multiclass":
            notes.append(_NOT_IN_SKETCH)
        note = "; ".join(text for text in notes if text) or None
        rows.append(ComparisonRow(found.method, recalibrated_scores(score_on, found), found, note))
    same = same_cases or fit_on is score_on or fit_on == score_on
    return Comparison(tuple(rows), same, fit_on.voxels, score_on.voxels)


def _plain(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
