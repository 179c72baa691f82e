"""How far probabilities are from the posterior that labels were drawn from."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gradsurge.data import find_files, read_label, read_prediction


class Distance(NamedTuple):
    """Over all voxels: mean |p - q|, and the root of the mean of (p - q)².

    The mean of |p - q| is smallest for the median of what q may be, so it forgives a model that
    calls rare things impossible. The square is smallest for the mean, which is what a calibrated
    model tells, and is what the Brier score has above that of q.
    """

    mean: float
    rms: float


def posterior_distance(
    folder: Path, posterior: Path, labels: Path, cases: Sequence[str]
) -> Distance:
    """Return the distance of the maps of a folder from those of the posterior, both (*S).

    Args:
        folder: of a prediction.
        posterior: folder of the true posterior.
        labels: folder of the labels, whose grid both are on.
        cases: names of those that count.
    """
    maps, truth, grids = find_files(folder), find_files(posterior), find_files(labels)
    absolute = squared = 0.0
    voxels = 0
    for case in cases:
        like = read_label(grids[case][0])
        p, q = (
            read_prediction(files[case], like).array[-1].astype(np.float64)
            for files in (maps, truth)
        )
        absolute += float(np.abs(p - q).sum())
        squared += float(np.square(p - q).sum())
        voxels += p.size
    if not voxels:
        return Distance(math.nan, math.nan)
    return Distance(absolute / voxels, math.sqrt(squared / voxels))
