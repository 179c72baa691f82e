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
_IN_SKETCH = (
    "a multiclass sketch tells the scores before, and the NLL after a temperature; apply the "
    "recalibrations to the maps to measure the rest"
)


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

    @property
    def is_scored(self) -> bool:
        """Whether at least one score is known."""
        return not all(math.isnan(score) for score in self.scores)


@dataclass(frozen=True)
class Comparison:
    """Rows of scores, and whether they are honest.

    Attributes:
        rows: the model as it is, then each recalibration.
        same_cases: whether fit and scores have cases in common; None if that is not known.
        shared: how many cases are known to be in both.
        fit_voxels, score_voxels: how many voxels either had.
        score_cases: how many cases are known to be scored on.
        note: what holds for all rows; None if nothing does.
    """

    rows: tuple[ComparisonRow, ...]
    same_cases: bool | None
    shared: int
    fit_voxels: int
    score_voxels: int
    score_cases: int
    note: str | None = None

    @property
    def caption(self) -> str:
        """One line that must stand over the table."""
        if self.same_cases and 0 < self.shared < self.score_cases:
            return (
                f"fitted on {self.shared} of the {self.score_cases} cases it is scored on: too "
                f"good for new ones ({self.score_voxels} voxels)"
            )
        if self.same_cases:
            cases = f"{self.shared} case{'s' * (self.shared > 1)}, " if self.shared else ""
            return f"{SAME_CASES} ({cases}{self.score_voxels} voxels)"
        voxels = f"fitted on {self.fit_voxels} voxels, scored on {self.score_voxels}"
        if self.same_cases is None:
            return f"{voxels}; whether these are other cases is not known"
        return f"{voxels} of other cases"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "caption": self.caption,
            "same_cases": self.same_cases,
            "shared_cases": self.shared,
            "fit_voxels": self.fit_voxels,
            "score_voxels": self.score_voxels,
            "note": self.note,
            "rows": [row.to_dict() for row in self.rows],
        }


def compare_recalibrations(
    fit_on: CalibrationSketch,
    score_on: CalibrationSketch,
    methods: Sequence[str | Recalibration] = tuple(FITTED),
    *,
    same_cases: bool | None = None,
) -> Comparison:
    """Fit each method on one sketch and score it on another.

    Args:
        fit_on: of the validation cases.
        score_on: of the test cases.
        methods: names to fit, or recalibrations that exist already, `Equilibrium` for one.
        same_cases: whether the two share cases, where the sketches do not know: those of
            `gradsurge evaluate` do. What is seen (a shared case, equal sketches) counts, whatever
            is said.

    >>> import numpy as np
    >>> p, y = np.repeat([0.2, 0.8], 100), np.repeat([0, 1, 0, 1], [60, 40, 40, 60])
    >>> sketch = CalibrationSketch().update_probabilities(p, y)
    >>> table = compare_recalibrations(sketch, sketch, ["temperature"], same_cases=True)
    >>> [(row.method, round(float(row.scores.ece), 3)) for row in table.rows]
    [('none', 0.2), ('temperature', 0.0)]
    >>> table.caption
    'fitted and scored on the same cases: too good for new ones (200 voxels)'
    """
    before = ComparisonRow("none", original_scores(score_on))
    return Comparison(
        rows=(before, *(_row(method, fit_on, score_on) for method in methods)),
        same_cases=_same_cases(fit_on, score_on, same_cases),
        shared=len(fit_on.cases.digests & score_on.cases.digests),
        fit_voxels=fit_on.voxels,
        score_voxels=score_on.voxels,
        score_cases=len(score_on.cases.digests),
        note=_IN_SKETCH if score_on.kind == "multiclass" else None,
    )


def _row(
    method: str | Recalibration, fit_on: CalibrationSketch, score_on: CalibrationSketch
) -> ComparisonRow:
    found = fit_recalibration(method, fit_on) if isinstance(method, str) else method
    return ComparisonRow(found.method, recalibrated_scores(score_on, found), found, found.note)


def _same_cases(
    fit_on: CalibrationSketch, score_on: CalibrationSketch, said: bool | None
) -> bool | None:
    """Return whether cases are shared: what is seen, else what was said, else what is known."""
    if fit_on.cases.digests & score_on.cases.digests or fit_on == score_on:
        return True
    known = all(sketch.cases.voxels == sketch.voxels for sketch in (fit_on, score_on))
    return False if said is None and known else said


def _plain(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
