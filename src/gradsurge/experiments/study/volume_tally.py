"""Volumes of each case: the true one, the one expected from probabilities, and that of the mask."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.datasets import DATASETS

_UNITS = {2: "cm2", 3: "ml"}
_MM = {2: 100.0, 3: 1000.0}  # mm² in a cm², mm³ in a ml


@dataclass
class VolumeTally:
    """Volumes of one structure, a value a case; in the unit of `volume_unit`.

    Attributes:
        true: of the label.
        mask: of the run's own mask.
        plain: of p > 1/2, or of the likeliest class.
        expected: correction -> sum of its probabilities.
    """

    true: list[float] = field(default_factory=list)
    mask: list[float] = field(default_factory=list)
    plain: list[float] = field(default_factory=list)
    expected: dict[str, list[float]] = field(default_factory=dict)

    def add_masks(
        self,
        truth: NDArray[np.bool_],
        own: NDArray[np.bool_],
        plain: NDArray[np.bool_],
        spacing: Sequence[float],
    ) -> None:
        """Add a case."""
        for values, mask in ((self.true, truth), (self.mask, own), (self.plain, plain)):
            values.append(volume(mask, spacing))

    def add_expected(
        self, correction: str, p: NDArray[np.floating[Any]], spacing: Sequence[float]
    ) -> None:
        """Add the expectation of a case after a correction."""
        self.expected.setdefault(correction, []).append(volume(p, spacing))


def volume_unit(dimensions: int, dataset: str | None = None) -> str:
    """Return what volumes are told in; a pixel without a size counts as a square millimetre.

    Args:
        dimensions: of the images.
        dataset: name of the data set; None if it is not known.

    >>> volume_unit(3), volume_unit(2, "inbreast"), volume_unit(2, "fives")
    ('ml', 'cm2', '100 pixels')
    """
    known = DATASETS.get(dataset or "")
    if dimensions == 2 and known is not None and not known.tells_size:
        return f"{_MM[2]:g} pixels"
    return _UNITS[dimensions]


def volume(values: NDArray[Any], spacing: Sequence[float]) -> float:
    """Return the volume of a mask, or the one expected of probabilities: ml, of pictures cm².

    >>> volume(np.array([[0.5, 1.0], [0.0, 0.5]]), (10.0, 10.0))
    2.0
    """
    voxel = math.prod(spacing) / _MM[len(spacing)]
    return float(np.sum(values, dtype=np.float64)) * voxel
