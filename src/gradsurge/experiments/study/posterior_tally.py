"""How far probabilities are from the posterior that labels were drawn from, over cases."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gradsurge.calibration.histogram import CLIP

POSTERIOR = "posterior"
"""Name of the extra of stored phantoms: the foreground classes' probabilities, (F, *S)."""

Floats = NDArray[np.float64]


@dataclass
class PosteriorTally:
    """Sums over voxels and, for the first two, over foreground classes.

    Attributes:
        absolute: of |p - q|.
        squared: of (p - q)².
        divergence: of Σ q log(q / p) over all classes, background among them; p below 2^-24
            counts as that.
        voxels: how many.
        classes: foreground classes.
    """

    absolute: float = 0.0
    squared: float = 0.0
    divergence: float = 0.0
    voxels: int = 0
    classes: int = 1

    def add(self, p: NDArray[np.floating], q: NDArray[np.floating]) -> None:
        """Add a case.

        Args:
            p: (F, *S), of exclusive foreground classes.
            q: the true one, (F, *S).
        """
        mine, true = p.astype(np.float64), q.astype(np.float64)
        self.absolute += float(np.abs(mine - true).sum())
        self.squared += float(np.square(mine - true).sum())
        self.divergence += float(_divergence(mine, true).sum())
        self.voxels += mine[0].size
        self.classes = len(mine)

    def distances(self) -> dict[str, float]:
        """Return "mean_abs", "rms" and "kl": means over voxels, of the first two over classes too.

        >>> tally = PosteriorTally()
        >>> tally.add(np.array([[0.5, 0.5]]), np.array([[0.5, 1.0]]))
        >>> {name: round(value, 4) for name, value in tally.distances().items()}
        {'mean_abs': 0.25, 'rms': 0.3536, 'kl': 0.3466}
        """
        if not self.voxels:
            return {}
        number = self.voxels * self.classes
        return {
            "mean_abs": self.absolute / number,
            "rms": math.sqrt(self.squared / number),
            "kl": self.divergence / self.voxels,
        }


def _divergence(p: Floats, q: Floats) -> Floats:
    background = [np.clip(1.0 - x.sum(0), 0.0, 1.0)[None] for x in (p, q)]
    mine, true = (np.concatenate(pair) for pair in zip(background, (p, q), strict=True))
    ratio = np.maximum(true, CLIP) / np.maximum(mine, CLIP)
    terms: Floats = np.where(true > 0, true * np.log(ratio), 0.0).sum(0)
    return terms
