"""Hard masks on the grid of the source, filled one class after the other to save memory."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_TINY = 1e-12


class HardMask(ABC):
    """Class numbers (*S), decided when the last class was added.

    Attributes:
        rule: in words.
    """

    rule: str

    def __init__(self, shape: Sequence[int]) -> None:
        self._mask = np.zeros(shape, np.uint8)

    @abstractmethod
    def add(self, index: int, p: NDArray[np.float32]) -> None:
        """Take the probabilities (*S) of a foreground class or region, in their order from 0."""

    def finished(self) -> NDArray[np.uint8]:
        """Return the class numbers."""
        return self._mask


class PaintedMask(HardMask):
    """Regions painted one over the other where p > threshold; one class is one region.

    Args:
        shape: (*S).
        thresholds: one a region.
        numbers: the class number each region is painted with.
    """

    rule = "p > threshold, later regions over earlier ones"

    def __init__(
        self, shape: Sequence[int], thresholds: Sequence[float], numbers: Sequence[int]
    ) -> None:
        super().__init__(shape)
        self._thresholds, self._numbers = thresholds, numbers

    def add(self, index: int, p: NDArray[np.float32]) -> None:
        self._mask[p > np.float32(self._thresholds[index])] = self._numbers[index]


class LikeliestClass(HardMask):
    """The likeliest of exclusive classes, the background among them; the first of equal ones."""

    rule = "likeliest class"

    def __init__(self, shape: Sequence[int]) -> None:
        super().__init__(shape)
        self._highest, self._background = np.zeros(shape, np.float32), np.ones(shape, np.float32)

    def add(self, index: int, p: NDArray[np.float32]) -> None:
        self._mask[p > self._highest] = index + 1
        np.maximum(self._highest, p, out=self._highest)
        self._background -= p

    def finished(self) -> NDArray[np.uint8]:
        self._mask[self._background >= self._highest] = 0
        return self._mask


class ThresholdedClass(HardMask):
    """Of the exclusive classes with p > threshold, the one with the highest p / threshold.

    Args:
        shape: (*S).
        thresholds: one a foreground class.
    """

    rule = "p > threshold, of several such classes the one with the highest p / threshold"

    def __init__(self, shape: Sequence[int], thresholds: Sequence[float]) -> None:
        super().__init__(shape)
        self._thresholds = [max(t, _TINY) for t in thresholds]
        self._highest = np.ones(shape, np.float32)

    def add(self, index: int, p: NDArray[np.float32]) -> None:
        ratio = p / np.float32(self._thresholds[index])
        self._mask[ratio > self._highest] = index + 1
        np.maximum(self._highest, ratio, out=self._highest)
