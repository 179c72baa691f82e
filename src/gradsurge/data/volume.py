"""An array and where it lies: what every reader returns."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Volume:
    """One case's labels, region mask or prediction, as the file stores it.

    Nothing is resampled or reoriented. NIfTI arrays keep the file's memory order (first axis
    fastest), so ``array.ravel(order="K")`` costs no copy and ``array.ravel()`` does.

    Attributes:
        array: labels: unsigned integers (*S); masks: bool (*S); predictions: float32, or float64
            if the file holds float64, (C, *S).
        spacing: mm along each axis of S; None if the file does not tell.
        affine: voxel indices to mm, 4x4, for NIfTI; None otherwise.
        source: the file; of a prediction with one file a channel, the first.
        step: distance between two neighbouring stored values where a prediction was stored as
            integers (1/255 for 8-bit pictures); 0 for floats.
    """

    array: NDArray[Any]
    spacing: tuple[float, ...] | None
    affine: NDArray[np.float64] | None
    source: Path
    step: float = 0.0
