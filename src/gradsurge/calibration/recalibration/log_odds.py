"""The scale that recalibrations work on: log(p / (1-p)), within what a sketch could tell."""

import numpy as np
import torch
from torch import Tensor

from gradsurge.calibration.cells import Cells
from gradsurge.calibration.histogram import CLIP, Floats, Histogram, tail_edges

FLOAT32_LIMIT = float(np.log1p(-CLIP) - np.log(CLIP))  # 16.6: the float32 next to 1
FLOAT64_LIMIT = 30.0  # 1 - p of a float64 is known to 0.1 % there


def limit_of(histogram: Histogram) -> float:
    """Return the log-odds beyond which the pairs of a histogram cannot be told apart.

    Float32 probabilities end at 16.6 on the side of 1, and a recalibration must not take p = 1 for
    infinity. A histogram of logits, or of float64, may hold pairs nearer to 1 than that.
    """
    distances = tail_edges(histogram.tails.shape[-1])
    finer = (distances > 0.0) & (distances < CLIP)
    return FLOAT64_LIMIT if histogram.tails[:, 1, finer].any() else FLOAT32_LIMIT


def cell_log_odds(found: Cells, limit: float) -> Floats:
    """Return the log-odds of the cells' means, within ±``limit``."""
    with np.errstate(divide="ignore"):
        log_odds: Floats = np.clip(np.log(found.p) - np.log(found.q), -limit, limit)
    return log_odds


def against_rest(logits: Tensor) -> Tensor:
    """Return the log-odds of each class against all others together, (C, V) from logits (C, V).

    The others are added up without the class itself, not as 1 - p: nothing cancels. Where they
    underflow the log-odds are infinite.

    >>> z = torch.tensor([[40.0], [0.0], [0.0]])
    >>> [round(float(v), 4) for v in against_rest(z).flatten()]
    [39.3069, -40.0, -40.0]
    """
    weights = (logits - logits.amax(0)).exp()
    others = torch.zeros_like(weights)
    others[1:] += weights[:-1].cumsum(0)
    others[:-1] += weights[1:].flip(0).cumsum(0).flip(0)
    return weights.log() - others.log()
