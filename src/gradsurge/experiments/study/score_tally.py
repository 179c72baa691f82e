"""Scores of one correction: case by case as they come, pooled at the end."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from gradsurge.calibration.sketch import CalibrationSketch
from gradsurge.experiments.evaluation.scoring import mean_of, score_sketch
from gradsurge.experiments.evaluation.settings import ALL, Region, Settings

SCORES = ("nll", "brier", "brier_sum", "ece", "mce", "top_ece", "top_mce")
"""What is kept of each case; the paper's profile is nll, top_ece, top_mce and a Brier score."""
POOLED = (*SCORES, "equal_mass_ece", "class_wise_ece", "auroc", "average_precision")

Scores = dict[str, float]
ByRegion = dict[str, dict[str, Scores]]
"""Region -> structure -> score -> value."""


class PooledTally:
    """Takes the sketches of cases, and keeps their sum.

    Args:
        names: of the structures, in the order of the sketches' foreground.
        settings: bins and the like.

    Attributes:
        sketches: region -> the sketch of all cases so far.
    """

    def __init__(self, names: Sequence[str], settings: Settings) -> None:
        self._names, self._settings = list(names), settings
        self.sketches: dict[Region, CalibrationSketch] = {}

    @property
    def headline(self) -> str:
        """The structure that stands for all: the only one, or `ALL`."""
        return self._names[0] if len(self._names) == 1 else ALL

    def add(self, sketches: Mapping[Region, CalibrationSketch]) -> None:
        """Add a case."""
        for region, sketch in sketches.items():
            if region in self.sketches:
                self.sketches[region] += sketch
            else:
                self.sketches[region] = sketch

    def pooled(self) -> ByRegion:
        """Return the scores of all voxels of all cases together."""
        found: ByRegion = {}
        for region, sketch in self.sketches.items():
            scored = score_sketch(sketch, self._names, self._settings)
            found[region] = {
                structure: {name: float(scores[name]) for name in POOLED if name in scores}
                for structure, scores in scored.items()
            }
        return found


class ScoreTally(PooledTally):
    """Keeps the scores of every case, too.

    Attributes:
        rows: (region, structure) -> the scores of each case, in the order of the cases.
    """

    def __init__(self, names: Sequence[str], settings: Settings) -> None:
        super().__init__(names, settings)
        self.rows: dict[tuple[Region, str], list[Scores]] = defaultdict(list)

    def add(self, sketches: Mapping[Region, CalibrationSketch]) -> None:
        for region, sketch in sketches.items():
            scored = score_sketch(sketch, self._names, self._settings)
            for structure, scores in scored.items():
                kept = {name: float(scores[name]) for name in SCORES}
                self.rows[region, structure].append(kept)
        super().add(sketches)

    def means(self) -> ByRegion:
        """Return the means over cases; a case without a score does not count for it."""
        found: ByRegion = {}
        for (region, structure), rows in self.rows.items():
            means = {name: mean_of([row[name] for row in rows]) for name in SCORES}
            found.setdefault(region, {})[structure] = means
        return found

    def by_case(self, region: Region) -> dict[str, list[float]]:
        """Return score -> the value of each case, of the headline's structure."""
        rows = self.rows[region, self.headline]
        return {name: [row[name] for row in rows] for name in SCORES}
