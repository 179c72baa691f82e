"""Masks given as probability maps: they have no calibration, and a number for it would mislead."""

from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from gradsurge.data.case_error import CaseError, shown
from gradsurge.data.formats import StoredImage
from gradsurge.data.layout import blocks
from gradsurge.data.volume import Volume

# Class numbers stay small; a probability map of 8 bits whose largest value is this small, on a
# case with foreground, is none.
_LARGEST_CLASS = 15


def refuse_integers(stored: StoredImage, path: Path) -> None:
    """Raise for integers that do not say what they stand for: these are class numbers."""
    if stored.array.dtype.kind == "f" or stored.scaled or stored.full_scale is not None:
        return
    raise CaseError(
        f"{shown(path)}: holds integers ({stored.array.dtype}) without a scale factor, so it looks "
        f"like a hard mask, which has no calibration; save the probabilities as floats"
    )


def refuse_small_classes(stored: StoredImage, path: Path, like: Volume) -> None:
    """Raise for a one-channel picture of 0, 1, 2, ...: as 8 bits it would mean p = 1/255."""
    if stored.full_scale is None or stored.array.ndim > like.array.ndim:
        return
    largest, label = int(stored.array.max()), int(like.array.max())
    if 1 <= largest <= min(label, _LARGEST_CLASS):
        raise CaseError(
            f"{shown(path)}: its largest value is {largest} of {stored.full_scale}, so it looks "
            f"like a hard mask of class numbers, which has no calibration; save probabilities "
            f"as value x {stored.full_scale}"
        )


def refuse_zeros_and_ones(array: NDArray[Any], path: Path) -> None:
    """Raise if a prediction (C, *S) holds nothing but 0 and 1, and a channel holds both.

    A channel of zeros or of ones alone passes: a case without foreground may be like that.
    """
    # The first block with a value between ends the search, so real maps cost next to nothing.
    if any(((block != 0) & (block != 1)).any() for block in blocks(array)):
        return
    if any(channel.min() != channel.max() for channel in array):
        raise CaseError(
            f"{shown(path)}: holds only 0 and 1, so it looks like a hard mask, which has no "
            f"calibration; save the probabilities before they are thresholded"
        )
