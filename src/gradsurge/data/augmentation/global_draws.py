"""A sample's own random numbers for code that draws from the global generators.

batchgeneratorsv2 takes some of its numbers from NumPy's global generator (`sample_scalar`,
`BGContrast`) and some from torch's (`torch.rand`, `normal_`); it takes none from Python's.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch


@contextmanager
def global_draws(rng: np.random.Generator) -> Iterator[None]:
    """Seed both global generators from ``rng``, and leave them as they were.

    torch's generators on other devices are not touched, unlike by `torch.manual_seed`.
    """
    words = rng.integers(0, 2**32, 8, dtype=np.uint32)
    numpy_state = np.random.get_state()  # noqa: NPY002 # others draw from it, we keep it theirs
    torch_state = torch.default_generator.get_state()
    try:
        np.random.seed(words[:6])  # noqa: NPY002 # same
        torch.default_generator.manual_seed(int(words[6]) << 31 | int(words[7]) >> 1)
        yield
    finally:
        np.random.set_state(numpy_state)  # noqa: NPY002 # same
        torch.default_generator.set_state(torch_state)
