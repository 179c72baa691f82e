"""Masks that a model brings with its maps: then Dice and lesions are those of the masks.

`gradsurge predict` decides its masks from uncorrected probabilities at thresholds of their own. The
corrected map cut at 0.5 is another mask, and nobody's result.
"""

from collections.abc import Collection
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gradsurge.data import Volume, binarise, check_geometry, read_label
from gradsurge.experiments.evaluation.settings import Settings
from gradsurge.experiments.prediction.listed_files import listed_files


def own_masks(folder: Path, cases: Collection[str], settings: Settings) -> dict[str, Path]:
    """Return case -> mask of a folder of `gradsurge predict`; nothing of any other folder.

    Nothing either if one of the cases has no mask listed: Dice must mean the same for all.
    """
    listed = {
        case: files["mask"] for case, files in listed_files(folder).items() if "mask" in files
    }
    if settings.logits or not set(cases) <= set(listed):
        return {}
    return {case: listed[case] for case in cases}


def read_own_mask(
    file: Path, label: Volume, channels: int, settings: Settings
) -> NDArray[np.bool_]:
    """Return the mask (K, *S) of each structure.

    Args:
        file: class numbers: those of the map's channels, or what regions are painted with.
        label: of the case.
        channels: of the map.
        settings: with the structures.

    Raises:
        CaseError: it cannot be read, or lies on another grid.
    """
    mask = read_label(file)
    check_geometry(Volume(mask.array[None], mask.spacing, mask.affine, mask.source), label)
    sets = settings.label_sets
    # One foreground class has the number 1 in the mask, whatever its numbers in the label.
    foreground = channels <= 2 and not settings.multilabel
    if foreground and (not sets or (len(sets) == 1 and 0 not in sets[0].values)):
        return np.stack([mask.array == 1])
    if sets:
        return np.stack([binarise(mask.array, s.values) for s in sets])
    return np.stack([mask.array == c for c in range(1, channels)])
