"""Intensity statistics of a case, channel by channel."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_BLOCK = 1 << 18  # voxels a step: a float64 copy of a whole channel would be twice its size
_SAMPLE = 200_000  # voxels the percentiles are taken of: exact ones would cost a sort


@dataclass(frozen=True)
class Intensities:
    """Of one channel; percentiles of an evenly spaced sample of the voxels where there are many."""

    minimum: float
    maximum: float
    mean: float
    std: float
    percentile_00_5: float
    median: float
    percentile_99_5: float


def intensities(channel: NDArray[Any]) -> Intensities:
    """Return the statistics of a channel (*S).

    >>> intensities(np.arange(101.0)).median
    50.0
    """
    values = channel.ravel()
    blocks = [values[i : i + _BLOCK] for i in range(0, values.size, _BLOCK)]
    mean = sum(float(block.sum(dtype=np.float64)) for block in blocks) / values.size
    squares = sum(float(np.square(block - np.float64(mean)).sum()) for block in blocks)
    sample = values[:: -(-values.size // _SAMPLE)]
    low, median, high = np.percentile(sample, (0.5, 50, 99.5))
    return Intensities(
        float(values.min()),
        float(values.max()),
        mean,
        math.sqrt(squares / values.size),
        float(low),
        float(median),
        float(high),
    )
