"""Sketches to named scores: the same for a case and for all cases together."""

from gradsurge.calibration import equal_mass, ranking, scores
from gradsurge.calibration.histogram import Histogram
from gradsurge.calibration.sketch import CalibrationSketch
from gradsurge.calibration.top_label import binary_top_label
from gradsurge.experiments.evaluation.result import MEAN
from gradsurge.experiments.evaluation.settings import Settings

# name -> what a page says of it; the order is that of columns.
DEFINITIONS = {
    "nll": "Negative log-likelihood: mean of -log P(label), in nats. Lower is better. The mean row "
    "of exclusive classes is the joint one, of the class that is true.",
    "brier": "Brier score: mean of (p - y)² of the structure. Lower is better.",
    "brier_sum": "Brier score summed over classes; for two classes twice the other form.",
    "ece": "Expected calibration error of the structure's probability: |mean p - frequency| in "
    "equal-width bins (lo, hi], weighted by voxels.",
    "ace": "Average calibration error: the same, bins not weighted.",
    "mce": "Maximum calibration error: the largest gap of a bin.",
    "equal_mass_ece": "Expected calibration error in bins of equally many voxels.",
    "top_ece": "Expected calibration error of the confidence in the predicted class (the paper's).",
    "top_mce": "Maximum calibration error of the confidence in the predicted class (the paper's).",
    "sharpness": "Mean of p(1-p): the Brier score if these probabilities were calibrated.",
    "auroc": "Area under the ROC curve: the chance that a voxel of the structure ranks higher.",
    "average_precision": "Precision averaged over the structure's voxels, each at its own rank.",
    "dice": "Dice of the hard mask (p > 0.5, or the largest class), of whole cases. NaN if mask "
    "and label are both empty.",
    "nsd": "Normalised surface distance: share of both surfaces within the tolerance.",
    "hd95": "95th percentile of the distance between the surfaces, in mm.",
}
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
    """Return structure -> score -> value; with several structures their `MEAN` too."""
    found = {
        name: _of_histogram(histogram, settings)
        for name, histogram in zip(names, sketch.foreground.values(), strict=True)
    }
    if len(names) > 1:
        found[MEAN] = _of_all(sketch, list(found.values()), settings)
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
        "equal_mass_ece": float(equal_mass.equal_mass_ece(histogram, bins)),
        "top_ece": scores.ece(top, bins),
        "top_mce": scores.mce(top, bins, minimum),
        "sharpness": scores.sharpness(histogram),
        "auroc": float(ranking.auroc(histogram)),
        "average_precision": float(ranking.average_precision(histogram)),
    }


def _of_all(
    sketch: CalibrationSketch, each: list[dict[str, float]], settings: Settings
) -> dict[str, float]:
    mean = {name: mean_of([found[name] for found in each]) for name in each[0]}
    mean |= {
        "voxels": sketch.voxels,
        "positives": sum(found["positives"] for found in each),
        "nll": sketch.nll(),
        "brier_sum": sketch.brier("sum"),
    }
    if sketch.kind == "multiclass":
        top = sketch.top_label
        mean["top_ece"] = scores.ece(top, settings.bins)
        mean["top_mce"] = scores.mce(top, settings.bins, settings.minimum)
    return mean


def mean_of(values: list[float]) -> float:
    """Mean of what is defined."""
    kept = [v for v in values if v == v]  # NaN differs from itself
    return sum(kept) / len(kept) if kept else float("nan")
