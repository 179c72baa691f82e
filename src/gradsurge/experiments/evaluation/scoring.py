"""Sketches to named scores: the same for a case and for all cases together."""

from collections.abc import Sequence

from gradsurge.calibration import equal_mass, ranking, scores
from gradsurge.calibration.bounded import Bounded
from gradsurge.calibration.histogram import Histogram
from gradsurge.calibration.sketch import CalibrationSketch
from gradsurge.calibration.top_label import binary_top_label
from gradsurge.experiments.evaluation.settings import ALL, Settings

HEADLINES = {
    "foreground": ("nll", "brier", "ece", "mce", "dice"),
    "paper": ("nll", "brier", "top_ece", "top_mce", "dice"),
}


def headline_scores(settings: Settings, dimensions: int) -> tuple[str, ...]:
    """Return the columns that head a table; the paper sums the Brier score over classes in 3D."""
    names = HEADLINES[settings.profile]
    if settings.profile == "paper" and dimensions == 3:
        return tuple("brier_sum" if name == "brier" else name for name in names)
    return names


def score_sketch(
    sketch: CalibrationSketch, names: list[str], settings: Settings
) -> dict[str, dict[str, float]]:
    """Return structure -> score -> value; with several structures `ALL` of them too."""
    found = {
        name: _of_histogram(histogram, settings)
        for name, histogram in zip(names, sketch.foreground.values(), strict=True)
    }
    if len(names) > 1:
        found[ALL] = _of_all(sketch, list(found.values()), settings)
    return found


def _of_histogram(histogram: Histogram, settings: Settings) -> dict[str, float]:
    top = binary_top_label(histogram)
    bins, minimum = settings.bins, settings.minimum
    brier = scores.brier(histogram)
    return {
        "voxels": histogram.total,
        "positives": histogram.positives,
        "nll": scores.nll(histogram),
        "brier": brier,
        "brier_sum": 2 * brier,
        "ece": scores.ece(histogram, bins),
        "ace": scores.ace(histogram, bins),
        "mce": scores.mce(histogram, bins, minimum),
        "equal_mass_ece": equal_mass.equal_mass_ece(histogram, bins),
        "top_ece": scores.ece(top, bins),
        "top_mce": scores.mce(top, bins, minimum),
        "sharpness": scores.sharpness(histogram),
        "auroc": ranking.auroc(histogram),
        "average_precision": ranking.average_precision(histogram),
    }


def _of_all(
    sketch: CalibrationSketch, each: list[dict[str, float]], settings: Settings
) -> dict[str, float]:
    """Return means over structures, and what is joint; `ALL_STRUCTURES` says which is which."""
    together = {name: mean_of([found[name] for found in each]) for name in each[0]}
    together |= {
        "voxels": sketch.voxels,
        "positives": sum(found["positives"] for found in each),
        "nll": sketch.nll(),
        "brier_sum": sketch.brier("sum"),
    }
    if sketch.kind == "multiclass":
        top = sketch.top_label
        together["class_wise_ece"] = sketch.class_wise_ece(settings.bins)
        together["top_ece"] = scores.ece(top, settings.bins)
        together["top_mce"] = scores.mce(top, settings.bins, settings.minimum)
    return together


def mean_of(values: Sequence[float]) -> float:
    """Mean of what is defined; of bounded numbers with the mean of their bounds.

    >>> mean_of([0.2, float("nan"), 0.4]), mean_of([Bounded(0.2, 0.01), Bounded(0.4, 0.03)])
    (0.30000000000000004, 0.30000000000000004 (± 0.02))
    """
    kept = [v for v in values if v == v]  # NaN differs from itself
    mean = sum(kept) / len(kept) if kept else float("nan")
    errors = [v.error for v in kept if isinstance(v, Bounded)]
    return Bounded(mean, sum(errors) / len(kept)) if errors else mean
