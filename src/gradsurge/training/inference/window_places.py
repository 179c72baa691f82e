"""Where windows lie: evenly spread, the first and the last at the borders."""

import itertools
import math
from collections.abc import Iterator, Sequence

Place = tuple[int, ...]


def window_starts(size: int, window: int, overlap: float) -> list[int]:
    """Return the starts of windows along an axis that is at least as long as one.

    As few windows as reach everything with at least this overlap, ceil((size - window) / step) + 1
    of them with step = window * (1 - overlap), at equal distances rounded to whole voxels (half to
    even), as in nnU-Net. MONAI keeps the step and moves the last window back instead.

    >>> window_starts(20, 8, 0.5), window_starts(8, 8, 0.5)
    ([0, 4, 8, 12], [0])
    """
    step = max(1.0, window * (1.0 - overlap))
    count = math.ceil((size - window) / step) + 1
    distance = (size - window) / max(count - 1, 1)
    return [round(distance * i) for i in range(count)]


def window_places(shape: Sequence[int], window: Sequence[int], overlap: float) -> Iterator[Place]:
    """Yield the corner of every window, in rising order along the first axis."""
    starts = (window_starts(n, w, overlap) for n, w in zip(shape, window, strict=True))
    return itertools.product(*starts)
