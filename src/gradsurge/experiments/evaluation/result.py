"""What an evaluation found: plain data that tables, files and pages are made of."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsurge.calibration.bounded import Bounded
from gradsurge.calibration.lesions import Lesion
from gradsurge.calibration.logit_table import LogitSums
from gradsurge.calibration.reliability import ReliabilityCurve
from gradsurge.calibration.scores import Bins
from gradsurge.calibration.sketch import CalibrationSketch, Kind
from gradsurge.calibration.thresholds import ThresholdCurve
from gradsurge.experiments.comparison import PairedComparison
from gradsurge.experiments.evaluation.settings import ALL, Region, Settings
from gradsurge.experiments.statistics import MeanInterval


@dataclass(frozen=True)
class Problem:
    """A case that could not be scored, or a file without a partner."""

    model: str
    case: str
    message: str


@dataclass(frozen=True)
class Row:
    """Scores of one model on one case, in one region, for one structure (or `ALL` of them)."""

    model: str
    case: str
    region: Region
    label: str
    scores: dict[str, float]

    @property
    def bounds(self) -> dict[str, float]:
        """Score -> how far off it may be at most, of those that are not exact."""
        return {name: v.error for name, v in self.scores.items() if isinstance(v, Bounded)}


@dataclass
class Lens:
    """One structure in one region, over all cases of a model: what its diagrams are drawn from.

    Attributes:
        reliability: pooled over cases; ``low`` and ``high`` from resampling cases.
        case_bins: the bins of each case, in the order of the cases.
        thresholds: counts of the pooled mask at 100 thresholds.
        case_dice: (cases, 100) Dice of each case at these thresholds; NaN where undefined.
        best_threshold: Dice-optimal threshold of the pooled voxels, and the Dice there, whose
            bound is what a threshold between those tried could still gain.
    """

    reliability: ReliabilityCurve
    case_bins: list[Bins]
    thresholds: ThresholdCurve
    case_dice: NDArray[np.float64]
    best_threshold: float
    best_dice: Bounded


@dataclass
class LesionSummary:
    """Lesions of one structure: one by one, and the components that the model made up."""

    lesions: list[Lesion] = field(default_factory=list)
    predicted_components: int = 0
    false_positives: int = 0


@dataclass
class ModelResult:
    """What one model's predictions gave.

    Attributes:
        folder: where the predictions came from.
        own_masks: whether Dice and lesions are of masks that the folder brings, and not of p > 0.5.
        cases: names of the cases that were scored, in natural order.
        rows: a row a case, region and structure.
        pooled: the same of all voxels of all cases together (``case`` is "pooled").
        means: (region, label, score) -> mean over cases with its bootstrap interval.
        sketches: region -> the sketch of all cases.
        lenses: (region, label) -> what diagrams are drawn from.
        lesions: label -> its lesions.
        logits: label -> mean logits (log-probabilities, if the files hold probabilities).
        problems: what was left out, and why.
    """

    name: str
    folder: Path
    own_masks: bool = False
    cases: list[str] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    pooled: list[Row] = field(default_factory=list)
    means: dict[tuple[Region, str, str], MeanInterval] = field(default_factory=dict)
    sketches: dict[Region, CalibrationSketch] = field(default_factory=dict)
    lenses: dict[tuple[Region, str], Lens] = field(default_factory=dict)
    lesions: dict[str, LesionSummary] = field(default_factory=dict)
    logits: dict[str, LogitSums] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


@dataclass(frozen=True)
class CaseLook:
    """The slice of a case with the largest error of a structure, for a picture.

    All arrays are 2D of one shape; ``error`` is |p - y|; ``aspect`` is the height of a pixel over
    its width.
    """

    model: str
    case: str
    label_name: str
    slice_name: str
    image: NDArray[Any] | None
    label: NDArray[np.bool_]
    probability: NDArray[np.float32]
    aspect: float

    @property
    def error(self) -> NDArray[np.float32]:
        """|p - y|."""
        return np.abs(self.probability - self.label).astype(np.float32)


@dataclass
class Evaluation:
    """One or more models on the same labels.

    Attributes:
        labels: names of the structures, without `ALL`.
        dimensions: 2 or 3.
        comparisons: paired tests between models on the primary region, Holm-corrected.
        looks: the worst cases of each model.
        notes: what is no problem of a case, but should not pass in silence.
        provenance: version, date, and what else tells how the numbers came about.
    """

    settings: Settings
    label_folder: Path
    models: dict[str, ModelResult]
    labels: list[str]
    dimensions: int
    comparisons: list[PairedComparison] = field(default_factory=list)
    looks: list[CaseLook] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    provenance: dict[str, str] = field(default_factory=dict)

    @property
    def headline(self) -> str:
        """The label that heads the tables: the only structure, or `ALL` of them."""
        return self.labels[0] if len(self.labels) == 1 else ALL

    @property
    def kind(self) -> Kind | None:
        """The kind of the sketches; None if nothing was scored."""
        sketches = (s for model in self.models.values() for s in model.sketches.values())
        return next((sketch.kind for sketch in sketches), None)

    @property
    def problems(self) -> list[Problem]:
        """All problems of all models."""
        return [p for model in self.models.values() for p in model.problems]
