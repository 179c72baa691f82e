"""Which patches of a batch must hold foreground."""

import math

from gradsurge.data.patches.settings import PatchSettings


def foreground_number(settings: PatchSettings, step: int) -> int:
    """Return how many patches of a batch must hold foreground; see `PatchSettings`.

    >>> four = PatchSettings((64, 64), batch=4, oversample=0.33)
    >>> [foreground_number(four, step) for step in range(6)]
    [1, 1, 1, 2, 1, 1]
    """
    share = settings.batch * settings.oversample
    if 0.5 <= share < 1:
        return 1
    return math.floor((step + 1) * share) - math.floor(step * share)


def is_foreground_turn(settings: PatchSettings, step: int, sample: int) -> bool:
    """Tell whether a patch must hold foreground; they are spread evenly over the batch.

    >>> eight = PatchSettings((64, 64), batch=8, oversample=0.5)
    >>> [is_foreground_turn(eight, 0, sample) for sample in range(4)]
    [False, True, False, True]
    """
    number = foreground_number(settings, step)
    before, after = (k * number // settings.batch for k in (sample, sample + 1))
    return after > before
