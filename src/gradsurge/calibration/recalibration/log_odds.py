"""The scale that recalibrations work on: log(p / (1-p)), within what a sketch could tell."""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from gradsurge.calibration.cells import Cells, cells
from gradsurge.calibration.histogram import CLIP, Floats, Histogram

FLOAT32_LIMIT = float(np.log1p(-CLIP) - np.log(CLIP))  # 16.6: the float32 next to 1
FLOAT64_LIMIT = 30.0  # 1 - p of a float64 is known to 0.1 % there


class Span(NamedTuple):
    """The log-odds that can be told apart: from ``floor`` to ``limit``."""

    floor: float
    limit: float


def span_of(histogram: Histogram) -> Span:
    """Return the log-odds beyond which the pairs of a histogram cannot be told apart.

    A recalibration must not take p = 0 and p = 1 for infinity, which are mostly roundings: they
    count as the most extreme pair that is neither, or as the float32 next to 1 if none is beyond.
    The two sides differ: float32 probabilities end at 16.6 on the side of 1, but go on to -103 on
    the side of 0, where nearly all voxels of a network that is sure of its background are.
    """
    z = cell_log_odds(cells(histogram), Span(-np.inf, np.inf))
    z = z[np.isfinite(z)]
    floor, limit = z.min(initial=-FLOAT32_LIMIT), z.max(initial=FLOAT32_LIMIT)
    return Span(float(floor), min(float(limit), FLOAT64_LIMIT))


def cell_log_odds(found: Cells, span: Span) -> Floats:
    """Return the log-odds of the cells' means, within a span."""
    with np.errstate(divide="ignore"):
        log_odds: Floats = np.clip(np.log(found.p) - np.log(found.q), span.floor, span.limit)
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
