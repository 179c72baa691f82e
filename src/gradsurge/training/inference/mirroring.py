"""A network that looks at its windows in the mirror too."""

import itertools
from collections.abc import Callable, Sequence

from torch import Tensor


def mirrored(model: Callable[[Tensor], Tensor], axes: Sequence[int]) -> Callable[[Tensor], Tensor]:
    """Return the mean of the logits over all 2^n flips along n spatial axes.

    Args:
        model: (N, C, *W) to logits (N, K, *W).
        axes: of W, counted from 0; none returns the model itself.
    """
    if not axes:
        return model
    flips = [
        [axis + 2 for axis in chosen]
        for count in range(len(axes) + 1)
        for chosen in itertools.combinations(axes, count)
    ]

    def mean_over_flips(windows: Tensor) -> Tensor:
        total: Tensor | None = None
        for flip in flips:
            logits = model(windows.flip(flip)).float().flip(flip)
            total = logits if total is None else total.add_(logits)
        assert total is not None, "the unflipped window is always among them"
        return total.div_(len(flips))

    return mean_over_flips
