"""Adds up the cases of each model as they come in, and keeps nothing that grows with their size."""

import hashlib
from collections import defaultdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gradsurge.calibration.histogram import Histogram
from gradsurge.calibration.scores import Bins, in_bins
from gradsurge.calibration.sketch import CalibrationSketch
from gradsurge.calibration.thresholds import best_threshold, dice_at, threshold_curve
from gradsurge.experiments.evaluation.bands import resampled_reliability
from gradsurge.experiments.evaluation.case import CaseResult
from gradsurge.experiments.evaluation.result import (
    Lens,
    LesionSummary,
    ModelResult,
    Problem,
    Row,
)
from gradsurge.experiments.evaluation.scoring import mean_of, score_sketch
from gradsurge.experiments.evaluation.settings import ALL, Region, Settings
from gradsurge.experiments.statistics import bootstrap_mean

_Key = tuple[str, Region, str]  # model, region, label
_LONGEST = 200  # bytes of a case's name in its sketch's; file systems stop at 255


class Collector:
    """Takes case results in the order of the cases; `finish` makes the models' summaries."""

    def __init__(
        self, models: dict[str, ModelResult], settings: Settings, sketches: Path | None
    ) -> None:
        self.models = models
        self.settings = settings
        self.folder = sketches
        self.names: list[str] = []
        self.dimensions = 0
        self._channels: dict[str, int] = {}
        self._bins: dict[_Key, list[Bins]] = defaultdict(list)
        self._dice: dict[_Key, list[NDArray[np.float64]]] = defaultdict(list)
        self._own_counts: dict[tuple[str, str], tuple[int, int]] = {}  # model, label

    def add(self, result: CaseResult) -> None:
        """Add a case, or note why it cannot be."""
        task = result.task
        model = self.models[task.model]
        problem = result.problem or self._misfit(result)
        if problem is not None:
            model.problems.append(Problem(task.model, task.case, problem))
            return
        model.cases.append(task.case)
        for region, sketch in result.sketches.items():
            self._add_sketch(model, task.case, region, sketch)
            scored = score_sketch(sketch, self.names, self.settings)
            _add_overlap(scored, result.overlap)
            model.rows += [
                Row(task.model, task.case, region, label, scores)
                for label, scores in scored.items()
            ]
        for label, found in result.lesions.items():
            summary = model.lesions.setdefault(label, LesionSummary())
            summary.lesions += found.lesions
            summary.predicted_components += found.predicted_components
            summary.false_positives += found.false_positives
        for label, (both, each) in result.own_counts.items():
            before = self._own_counts.get((task.model, label), (0, 0))
            self._own_counts[task.model, label] = (before[0] + both, before[1] + each)
        for label, sums in result.logits.items():
            model.logits[label] = model.logits[label] + sums if label in model.logits else sums

    def finish(self) -> None:
        """Make means, pooled scores and diagrams of every model."""
        for model in self.models.values():
            for region, sketch in model.sketches.items():
                if self.folder is not None:
                    sketch.save(self.folder / model.name / f"pooled.{region}.npz")
                scored = score_sketch(sketch, self.names, self.settings)
                if region == "all" and model.own_masks:
                    _add_overlap(scored, self._pooled_own_dice(model.name))
                elif region == "all" and sketch.kind != "multiclass":  # a mask of p > 0.5
                    _add_overlap(scored, self._pooled_dice(sketch))
                for label, scores in scored.items():
                    model.pooled.append(Row(model.name, "pooled", region, label, scores))
                for label, histogram in zip(self.names, sketch.foreground.values(), strict=True):
                    key = (model.name, region, label)
                    model.lenses[region, label] = self._lens(key, histogram)
            self._add_means(model)

    def _pooled_dice(self, sketch: CalibrationSketch) -> dict[str, dict[str, float]]:
        histograms = sketch.foreground.values()
        dice = [float(dice_at(histogram, 0.5)) for histogram in histograms]
        return {name: {"dice": d} for name, d in zip(self.names, dice, strict=True)}

    def _pooled_own_dice(self, model: str) -> dict[str, dict[str, float]]:
        counts = {name: self._own_counts[model, name] for name in self.names}
        return {
            name: {"dice": both / each if each else float("nan")}
            for name, (both, each) in counts.items()
        }

    def _misfit(self, result: CaseResult) -> str | None:
        """Return why a case cannot be added to those before it."""
        if not self.names:
            self.names, self.dimensions = result.names, result.dimensions
        if result.dimensions != self.dimensions:
            return (
                f"the label has {result.dimensions} axes, those before it {self.dimensions}; "
                f"evaluate images and volumes apart"
            )
        if result.names != self.names:
            return (
                f"the prediction has the structures {', '.join(result.names)}, those before it "
                f"{', '.join(self.names)}; all must have as many channels"
            )
        before = self._channels.setdefault(result.task.model, result.channels)
        if result.channels != before:
            return (
                f"the prediction has {result.channels} channels, those before it {before}; all "
                f"of a model must have as many"
            )
        return None

    def _add_sketch(
        self, model: ModelResult, case: str, region: Region, sketch: CalibrationSketch
    ) -> None:
        if self.folder is not None:
            folder = self.folder / model.name / "cases"
            sketch.save(folder / f"{_file_name(case)}.{region}.npz")
        if region in model.sketches:
            model.sketches[region] += sketch
        else:
            model.sketches[region] = sketch
        for label, histogram in zip(self.names, sketch.foreground.values(), strict=True):
            key = (model.name, region, label)
            self._bins[key].append(in_bins(histogram, self.settings.bins))
            self._dice[key].append(threshold_curve(histogram).dice)

    def _lens(self, key: _Key, histogram: Histogram) -> Lens:
        threshold, dice = best_threshold(histogram)
        return Lens(
            resampled_reliability(self._bins[key]),
            self._bins[key],
            threshold_curve(histogram),
            np.stack(self._dice[key]),
            threshold,
            dice,
        )

    def _add_means(self, model: ModelResult) -> None:
        values: dict[tuple[Region, str, str], list[float]] = defaultdict(list)
        for row in model.rows:
            for name, value in row.scores.items():
                values[row.region, row.label, name].append(value)
        for where, found in values.items():
            if where[-1] in ("voxels", "positives"):  # counts, not scores
                continue
            model.means[where] = bootstrap_mean([v for v in found if not np.isnan(v)])


def _file_name(case: str) -> str:
    """Return the name, cut and told apart by a digest if it is too long with a suffix."""
    text = case.encode()
    if len(text) <= _LONGEST:
        return case
    return f"{text[:_LONGEST].decode(errors='ignore')}.{hashlib.sha256(text).hexdigest()[:8]}"


def _add_overlap(scored: dict[str, dict[str, float]], overlap: dict[str, dict[str, float]]) -> None:
    """Put scores of whole masks beside those of the region's voxels."""
    for label, scores in overlap.items():
        scored[label] |= scores
    if ALL in scored:
        for name in next(iter(overlap.values())):
            scored[ALL][name] = mean_of([scores[name] for scores in overlap.values()])
