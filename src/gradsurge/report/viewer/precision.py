"""With how many bits probabilities travel."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsurge.experiments.viewing.case_view import CaseView

# Of all maps together in one HTML file, as float32: beyond it 8 bits keep the file small.
SMALL = 12 * 2**20
_FULL = 255


@dataclass(frozen=True)
class Precision:
    """A number format for probabilities.

    Attributes:
        kind: "float32" or "uint8".
        scale: probability = scale * stored.
        words: what a reader should know; empty if nothing.
    """

    kind: str
    scale: float
    words: str

    def stored(self, p: NDArray[Any]) -> NDArray[Any]:
        """Return probabilities as they are stored."""
        if self.kind == "float32":
            return np.asarray(p, np.float32)
        rounded: NDArray[Any] = np.rint(np.clip(p, 0.0, 1.0) * _FULL).astype(np.uint8)
        return rounded


FULL = Precision("float32", 1.0, "")
EIGHT_BITS = Precision(
    "uint8",
    1.0 / _FULL,
    "The maps in this file are rounded to 8 bits (steps of 1/255 = 0.004): a voxel within 0.002 of "
    "the threshold may show on the wrong side. The numbers in the tables are exact.",
)


def precision_of(view: CaseView, limit: int = SMALL) -> Precision:
    """Return float32 where all maps together take at most ``limit`` bytes, else 8 bits."""
    voxels = int(np.prod(view.layout.shape))
    count = sum(len(model.structures) for model in view.models if model.maps is not None)
    return FULL if 4 * voxels * count <= limit else EIGHT_BITS
