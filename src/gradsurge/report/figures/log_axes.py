"""Logarithmic axes with plain numbers, where values span too much for a linear one."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter
from numpy.typing import NDArray

# Up to which range, largest by smallest, which numbers of a decade are written out.
_LABELLED = (
    (10, (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)),
    (60, (1.0, 2.0, 5.0)),
    (300, (1.0, 3.0)),
    (np.inf, (1.0,)),
)


def log_if_wide(
    axes: Sequence[Axes],
    values: NDArray[np.floating],
    direction: Literal["x", "y"],
    factor: float = 5.0,
) -> bool:
    """Make an axis logarithmic if its values are above 0 and their range exceeds a factor.

    Args:
        axes: that share the axis.
        values: all that they show.
        direction: which axis.
        factor: of the largest value to the smallest.

    Returns:
        Whether it is.
    """
    shown = values[np.isfinite(values)]
    if not shown.size or shown.min() <= 0 or shown.max() <= factor * shown.min():
        return False
    span = shown.max() / shown.min()
    labelled = next(subs for most, subs in _LABELLED if span < most)
    for axis in axes:
        axis.set(**{f"{direction}scale": "log"})
        chosen = axis.xaxis if direction == "x" else axis.yaxis
        chosen.set_major_locator(LogLocator(subs=labelled))
        chosen.set_major_formatter(StrMethodFormatter("{x:g}"))
        chosen.set_minor_formatter(NullFormatter())
    return True
