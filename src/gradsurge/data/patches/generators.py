"""Random generators that depend on the seed and on what they are for, not on who asks."""

from functools import lru_cache

import numpy as np

from gradsurge.data.patches.settings import PatchSettings

_SAMPLE, _SHUFFLE, _CASE = range(3)


def sample_generator(seed: int, step: int, sample: int) -> np.random.Generator:
    """Return the generator of one patch: its place and its augmentation."""
    return _generator(seed, _SAMPLE, step, sample)


def case_index(settings: PatchSettings, cases: int, seed: int, step: int, sample: int) -> int:
    """Return which case a patch comes from.

    >>> settings = PatchSettings((64, 64), batch=2)
    >>> sorted(case_index(settings, 4, 0, step, sample) for step in (0, 1) for sample in (0, 1))
    [0, 1, 2, 3]
    """
    draw = (step * settings.batch + sample) // settings.patches_per_case
    if settings.draw == "independent":
        return int(_generator(seed, _CASE, draw).integers(cases))
    epoch, place = divmod(draw, cases)
    return _shuffled(seed, epoch, cases)[place]


@lru_cache(maxsize=4)
def _shuffled(seed: int, epoch: int, cases: int) -> tuple[int, ...]:
    return tuple(_generator(seed, _SHUFFLE, epoch).permutation(cases).tolist())


def _generator(seed: int, *key: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))
