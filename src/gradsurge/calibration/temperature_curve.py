"""The NLL of several classes at a ladder of temperatures: sums that add up like the rest.

A temperature moves all classes of a voxel together, so the histograms of single classes cannot tell
its effect. These sums can: between the rungs the curve is smooth.
"""

import numpy as np
import torch
from torch import Tensor

from gradsurge.calibration.histogram import Floats

# 1/T for T from 20 to 0.1, a rung every third: dense enough for a spline.
INVERSE_TEMPERATURES: Floats = np.geomspace(0.05, 10.0, 19)
_PIECE = 1 << 15  # voxels at a time: their exponentials stay in the cache


def nll_ladder(logits: Tensor, labels: Tensor) -> Floats:
    """Return the sum of -log softmax(z/T)_t over voxels, for each rung.

    Args:
        logits: (C, V), any constant a voxel added.
        labels: (V,) int64.
    """
    pieces = zip(logits.split(_PIECE, dim=1), labels.split(_PIECE), strict=True)
    return sum((_ladder(z, t) for z, t in pieces), np.zeros_like(INVERSE_TEMPERATURES))


def _ladder(logits: Tensor, labels: Tensor) -> Floats:
    gaps = (logits - logits.gather(0, labels[None])).to(torch.float32)
    highest = gaps.amax(0)
    gaps -= highest  # so that no exponential overflows, whatever the rung
    terms, sums = torch.empty_like(gaps), []
    for rung in INVERSE_TEMPERATURES.tolist():
        torch.mul(gaps, rung, out=terms).exp_()
        costs = terms.sum(0).log_().add_(highest, alpha=rung)
        sums.append(costs.numpy().sum(dtype=np.float64))
    return np.array(sums)
