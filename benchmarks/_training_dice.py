"""One rule for the Dice of both sides: NumPy alone, so that either interpreter can use it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def mean_dice(
    masks: Sequence[NDArray[Any]], labels: Sequence[NDArray[Any]], classes: Sequence[int]
) -> float:
    """Return the mean over classes of the mean over whole cases; empty in both does not count."""
    rows = [
        [_dice(mask == c, label == c) for c in classes]
        for mask, label in zip(masks, labels, strict=True)
    ]
    return float(np.nanmean(np.nanmean(np.array(rows), axis=0)))


def _dice(mask: NDArray[np.bool_], label: NDArray[np.bool_]) -> float:
    total = int(mask.sum()) + int(label.sum())
    return 2.0 * int((mask & label).sum()) / total if total else float("nan")
