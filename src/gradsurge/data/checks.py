"""Whether the numbers of a prediction can be probabilities, or logits."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.case_error import CaseError, shown
from gradsurge.data.layout import blocks
from gradsurge.data.volume import Volume

# Softmax and interpolation in float32 overshoot by some 1e-7.
_OVERSHOOT = 1e-5
# Rounding to float16 moves the sum of exclusive channels by up to 5e-4, to bfloat16 by 2e-3.
_SUM_TOLERANCE = 2e-3


def check_probabilities(array: NDArray[Any], exclusive: bool, step: float = 0.0) -> NDArray[Any]:
    """Return (C, *S) probabilities, clipped to [0, 1] if they overshoot by rounding.

    Args:
        array: the prediction; returned itself unless it must be clipped.
        exclusive: whether the channels are classes of which each voxel has one: then two or more
            channels must sum to 1, within 2e-3 (float16 and bfloat16 storage) and half a ``step``
            a channel.
        step: `Volume.step`, the distance between stored values of integer files.

    Raises:
        CaseError: NaN, infinite, outside [0, 1], or sums that are not 1.
    """
    low, high = _finite_range(array, "probabilities")
    if low < -_OVERSHOOT or high > 1.0 + _OVERSHOOT:
        raise CaseError(
            f"probabilities lie outside [0, 1]: from {low:.6g} to {high:.6g}; "
            f"if these are logits, say so with --logits"
        )
    if exclusive and len(array) > 1:
        off, tolerance = largest_sum_deviation(array), _SUM_TOLERANCE + len(array) * step / 2
        if off > tolerance:
            raise CaseError(
                f"the {len(array)} channels do not sum to 1: off by up to {off:.4g} (at most "
                f"{tolerance:.2g} is rounding); if channels may overlap, score them as multi-label"
            )
    return np.clip(array, 0.0, 1.0) if low < 0.0 or high > 1.0 else array


def check_logits(prediction: Volume) -> None:
    """Raise unless the logits are finite and were not stored as a picture's integers.

    Raises:
        CaseError: NaN or infinite values, or 8- / 16-bit pictures, whose scale is 0 to 1.
    """
    if prediction.affine is None and prediction.step > 0:
        raise CaseError(
            f"{shown(prediction.source)}: an integer picture holds numbers from 0 to 1, not "
            f"logits; save logits as floats"
        )
    _finite_range(prediction.array, "logits")


def largest_sum_deviation(array: NDArray[Any]) -> float:
    """Return the largest distance from 1 of the sum over channels, without a copy of the array.

    >>> round(largest_sum_deviation(np.array([[0.5, 0.25], [0.5, 0.5]])), 4)
    0.25
    """
    deviation = 0.0
    for block in blocks(array):
        total = block[0] + block[1]
        for channel in block[2:]:
            total += channel
        deviation = max(deviation, float(total.max()) - 1.0, 1.0 - float(total.min()))
    return deviation


def _finite_range(array: NDArray[Any], name: str) -> tuple[float, float]:
    """Return the smallest and the largest value; NaN, which is neither, shows in both."""
    with np.errstate(invalid="ignore"):
        low, high = float(array.min()), float(array.max())
    if np.isfinite(low) and np.isfinite(high):
        return low, high
    nan, infinite = int(np.isnan(array).sum()), int(np.isinf(array).sum())
    raise CaseError(
        f"{name} hold NaN {nan} times and infinite values {infinite} times of {array.size:,}"
    )
