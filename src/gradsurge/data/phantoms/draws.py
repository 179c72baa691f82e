"""Random numbers that stay the same for ever: made from a bit generator's raw output."""

import math
from hashlib import sha256

import numpy as np
from numpy.random import PCG64, SeedSequence
from numpy.typing import NDArray
from scipy.special import ndtri

Array = NDArray[np.float64]


class Draws:
    """A stream of random numbers that belongs to a key alone.

    NumPy promises that the raw bits of a bit generator never change, but not what `Generator`
    makes of them. So numbers are made here: 52 bits each, in the middle of their interval.

    Args:
        *key: names and numbers; other keys give independent streams.

    >>> Draws("lesions-2d", 7).numbers(2).round(4).tolist()
    [0.5214, 0.9249]
    """

    def __init__(self, *key: str | int | tuple[int, ...]) -> None:
        digest = sha256(repr(key).encode()).digest()
        self._bits = PCG64(SeedSequence(int.from_bytes(digest, "little")))

    def numbers(self, *shape: int) -> Array:
        """Return uniform numbers of (0, 1), never 0 and never 1."""
        raw = np.asarray(self._bits.random_raw(math.prod(shape)), np.uint64)
        middles: Array = ((raw >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
        return middles.reshape(shape)

    def normals(self, *shape: int) -> Array:
        """Return standard normal numbers."""
        values: Array = ndtri(self.numbers(*shape))
        return values

    def number(self) -> float:
        """Return one uniform number of (0, 1); the next of `numbers`, but faster."""
        raw: int = self._bits.random_raw()
        return ((raw >> 12) + 0.5) * 2.0**-52

    def between(self, low: float, high: float) -> float:
        """Return one uniform number of (low, high)."""
        return low + (high - low) * self.number()

    def log_between(self, low: float, high: float) -> float:
        """Return one number of (low, high) whose logarithm is uniform."""
        return low * math.exp(math.log(high / low) * self.number())

    def whole(self, low: int, high: int) -> int:
        """Return a whole number from low to high, both included."""
        return low + int((high - low + 1) * self.number())

    def sign(self) -> float:
        """Return -1.0 or 1.0."""
        return 2.0 * self.whole(0, 1) - 1.0
