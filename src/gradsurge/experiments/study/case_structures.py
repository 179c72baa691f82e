"""A run's answer for a case, in the form that is counted."""

from typing import Any

from numpy.typing import NDArray
from torch import Tensor

from gradsurge.data import Volume
from gradsurge.experiments.evaluation.settings import Settings
from gradsurge.experiments.evaluation.structures import Structures, structures_of
from gradsurge.experiments.study.case_voxels import CaseVoxels
from gradsurge.experiments.study.run_maps import RunMaps


def case_structures(
    maps: RunMaps,
    logits: Tensor,
    correction: str,
    voxels: CaseVoxels,
    settings: Settings,
    *,
    exact: bool,
) -> Structures:
    """Return scores, labels and masks of the structures after a correction.

    Args:
        maps: the run at work.
        logits: (K, *T) on the prepared voxels.
        correction: its name.
        voxels: where the case is measured.
        settings: of the evaluation.
        exact: whether scores are logits, of which likelihoods are exact; only where the measured
            voxels are the network's.

    Raises:
        CaseError: label and prediction do not fit.
    """
    if exact:
        values: NDArray[Any] = maps.corrected_logits(logits, correction)
    else:
        values = maps.probabilities(logits, correction, voxels.grid)
    label = voxels.label
    return structures_of(Volume(values, label.spacing, None, label.source), label, settings)
