"""Which class numbers a label holds."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.layout import blocks


def distinct_classes(label: NDArray[Any]) -> list[int]:
    """Return the class numbers of a label in order, without sorting or copying it.

    >>> distinct_classes(np.array([[0, 3], [3, 1]], np.uint8))
    [0, 1, 3]
    """
    largest = int(label.max())
    if largest > 65535:  # counters for all numbers up to it would be larger than the label
        return [int(n) for n in np.unique(label)]
    counts = np.zeros(largest + 1, np.int64)
    for block in blocks(label[None]):
        counts += np.bincount(block.ravel(order="K"), minlength=largest + 1)
    return [int(n) for n in np.flatnonzero(counts)]
