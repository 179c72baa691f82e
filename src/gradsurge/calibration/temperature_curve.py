"""The NLL of several classes at a ladder of temperatures: sums that add up like the rest.

A temperature moves all classes of a voxel together, so the histograms of single classes cannot tell
its effect. These sums can: between the rungs the curve is smooth.
"""

import numpy as np
import torch
from torch import Tensor

from gradsurge.calibration.histogram import Floats

# 1/T for T from 20 to 0.1, four rungs a factor e^1.2 or so: dense enough for a cubic spline.
INVERSE_TEMPERATURES: Floats = np.geomspace(0.05, 10.0, 19)


def nll_ladder(logits: Tensor, labels: Tensor) -> Floats:
    """Return the sum of -log softmax(z/T)_t over voxels, for each rung.

    Args:
        logits: (V, C), any constant a voxel added.
        labels: (V,) int64.
    """
    gaps = logits - logits.gather(1, labels[:, None])
    gaps = gaps.to(torch.float32)
    costs = ((gaps * rung).logsumexp(1).numpy() for rung in INVERSE_TEMPERATURES)
    return np.array([cost.sum(dtype=np.float64) for cost in costs])
