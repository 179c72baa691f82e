"""What every number is, in words that files and pages share."""

from gradsurge.calibration.sketch import Kind
from gradsurge.experiments.evaluation.result import Evaluation
from gradsurge.experiments.evaluation.settings import ALL

# name -> what a page says of it; the order is that of columns.
DEFINITIONS = {
    "nll": "Negative log-likelihood: mean of -log P(label), in nats. Lower is better.",
    "brier": "Brier score: mean of (p - y)² of the structure. Lower is better.",
    "brier_sum": "Brier score summed over the structure and the rest: twice the other form.",
    "ece": "Expected calibration error of the structure's probability: |mean p - frequency| in "
    "equal-width bins (lo, hi], weighted by voxels.",
    "ace": "Average calibration error: the same, bins not weighted.",
    "mce": "Maximum calibration error: the largest gap of a bin.",
    "equal_mass_ece": "Expected calibration error in bins of equally many voxels.",
    "class_wise_ece": "Expected calibration error of each class against the rest, averaged over "
    "all classes with the background. Only of all structures, if they exclude each other.",
    "top_ece": "Expected calibration error of the confidence in the predicted class (the paper's).",
    "top_mce": "Maximum calibration error of the confidence in the predicted class (the paper's).",
    "sharpness": "Mean of p(1-p): the Brier score if these probabilities were calibrated.",
    "auroc": "Area under the ROC curve: the chance that a voxel of the structure ranks higher.",
    "average_precision": "Precision averaged over the structure's voxels, each at its own rank.",
    "dice": "Dice of the hard mask (p > 0.5, or the largest class; of gradsurge predict the mask "
    "it wrote), of whole cases. NaN if mask and label are both empty.",
    "nsd": "Normalised surface distance: share of both surfaces within the tolerance.",
    "hd95": "95th percentile of the distance between the surfaces, in mm.",
}

# What the row of all structures holds, by the kind of sketch.
ALL_STRUCTURES: dict[Kind, str] = {
    "multiclass": "The structures exclude each other, so NLL, the summed Brier score, class-wise "
    "ECE, top-label ECE and top-label MCE are joint: of all classes at once, the background among "
    "them. Every other score is the mean over the structures, without the background.",
    "multilabel": "The structures may overlap. The summed Brier score is the sum of the "
    "structures' Brier scores, each once; every other score, NLL too, is the mean over the "
    "structures.",
}


def all_structures(evaluation: Evaluation) -> dict[str, str]:
    """Return what the row `ALL` is; nothing if there is no such row."""
    if len(evaluation.labels) < 2 or evaluation.kind is None:
        return {}
    return {ALL: ALL_STRUCTURES[evaluation.kind]}
