"""What a demo found: a table, what it says, and all that pages are made of."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from gradsurge.experiments.demo.plan import DemoPlan
from gradsurge.experiments.demo.side_by_side import SideBySide
from gradsurge.experiments.evaluation.result import Evaluation


@dataclass(frozen=True)
class ScoreRow:
    """A line of the table, on held-out cases; NaN where undefined.

    Attributes:
        name: of the model, or that of the true posterior.
        nll, ece, mce, brier: of all voxels of all cases together.
        dsc: Dice of the mask in percent, mean over cases and classes.
        mask: how the mask was made, in words.
        distance: mean |p - q| from the true posterior; None where there is none.
        rms: root of the mean of (p - q)².
    """

    name: str
    nll: float
    ece: float
    mce: float
    brier: float
    dsc: float
    mask: str
    distance: float | None = None
    rms: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return plain values; None for what is undefined."""
        plain = asdict(self)
        return {k: None if isinstance(v, float) and math.isnan(v) else v for k, v in plain.items()}


@dataclass
class DemoResult:
    """A finished demo.

    Attributes:
        plan: what was done.
        out: its folder.
        rows: of the table, by name.
        split: on which the rows were measured.
        counts: split -> number of cases.
        training: what is said of the trainings: model, patch, steps, ...
        minutes: of each training in this call, by loss; 0 for one that was there.
        correction: what the surgery run itself chose on its validation cases.
        evaluation: everything that ``gradsurge evaluate`` tells.
        looks: slices with all models side by side.
        problems: a line for each case that was left out.
        seconds: of this call.
    """

    plan: DemoPlan
    out: Path
    rows: Mapping[str, ScoreRow]
    split: str
    counts: Mapping[str, int]
    training: Mapping[str, Any]
    minutes: Mapping[str, float]
    correction: str
    evaluation: Evaluation
    looks: list[SideBySide] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def has_posterior(self) -> bool:
        """Whether the truth is known, as it is of phantoms."""
        return any(row.distance is not None for row in self.rows.values())
