"""Borders of lesion sizes: the same for every model, so that their tables compare."""

from gradsurge.calibration.lesion_table import quartile_edges
from gradsurge.experiments.evaluation.result import Evaluation


def size_edges(evaluation: Evaluation, label: str) -> list[float]:
    """Return the borders that were asked for, or the quartiles of all lesions of a structure.

    A lesion is one of the label, so several models on one case see the same ones: it counts once.
    """
    if evaluation.settings.lesion_edges is not None:
        return list(evaluation.settings.lesion_edges)
    models = [m for m in evaluation.models.values() if label in m.lesions]
    found = {(x.case, x.centroid, x.volume) for m in models for x in m.lesions[label].lesions}
    return quartile_edges(sorted(volume for *_, volume in found))
