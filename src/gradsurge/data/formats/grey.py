"""Pictures that are grey though they have colour channels."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.case_error import CaseError, shown


def grey(array: NDArray[Any], path: Path) -> NDArray[Any]:
    """Return the one plane of (..., samples) whose colours are all equal; refuse other colours.

    Two samples are grey and alpha, three red, green and blue, four these and alpha. Alpha must be
    the same everywhere: a mask drawn into it would be lost.
    """
    samples = array.shape[-1]
    colours = array[..., : samples - (samples in (2, 4))]
    first = colours[..., 0]
    if any(not np.array_equal(first, colours[..., c]) for c in range(1, colours.shape[-1])):
        raise CaseError(
            f"{shown(path)}: is a colour picture; expected one channel: save class numbers or "
            f"probabilities as greyscale (one file a channel: <case>_0000, <case>_0001, ...)"
        )
    if samples in (2, 4) and (array[..., -1] != array[..., -1].flat[0]).any():
        raise CaseError(
            f"{shown(path)}: its transparency differs between pixels, and what that means is "
            f"unclear; save it as greyscale without alpha"
        )
    return np.ascontiguousarray(first)
