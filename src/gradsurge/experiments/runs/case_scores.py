"""Dice of one case, class by class, and of all cases together."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from torch import Tensor

from gradsurge.calibration import dice
from gradsurge.experiments.runs.masks import hard_masks
from gradsurge.experiments.runs.task import Task


def case_dice(
    task: Task, probabilities: Tensor, label: Tensor, thresholds: Sequence[float] | None = None
) -> list[float]:
    """Return the Dice of each foreground class; NaN where neither mask nor label has any.

    Args:
        task: what the channels are.
        probabilities: (K, *S).
        label: class numbers (*S); unknown voxels are left out.
        thresholds: as `hard_masks` takes them.
    """
    predicted, there = hard_masks(task, probabilities, thresholds), task.foreground(label)
    known = task.known(label)
    if known is not None:
        predicted, there = predicted & known, there & known
    return [dice(p.numpy(), y.numpy()) for p, y in zip(predicted, there, strict=True)]


def mean_dice(names: Sequence[str], rows: Tensor) -> tuple[float, Mapping[str, float]]:
    """Return the mean over classes of the mean over cases, and the latter by name.

    Args:
        names: of the F classes.
        rows: (cases, F); NaN, where a class is neither there nor predicted, does not count.

    >>> import torch
    >>> mean_dice(["a", "b"], torch.tensor([[0.8, torch.nan], [0.6, 0.5]]))
    (0.6, {'a': 0.7, 'b': 0.5})
    """
    values = rows.double().numpy()
    by_name = {}
    for name, column in zip(names, values.T, strict=True):
        kept = column[~np.isnan(column)]
        by_name[name] = float(kept.mean()) if len(kept) else math.nan
    kept = np.array([value for value in by_name.values() if not math.isnan(value)])
    return (float(kept.mean()) if len(kept) else math.nan), by_name
