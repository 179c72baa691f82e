"""Exclusive classes, each against all others together: likelihoods that nothing clips."""

import torch
from torch import Tensor


def one_against_rest_nll(p: Tensor, costs: Tensor, labels: Tensor) -> list[float]:
    """Return, for each class, the sum of -log P(class or not) over voxels.

    Args:
        p: (C, V) float64 probabilities, made of logits: the small ones have all their digits.
        costs: -log p, (C, V).
        labels: (V,).

    >>> z = torch.tensor([[50.0], [0.0], [0.0]], dtype=torch.float64)
    >>> log_p = z.log_softmax(0)
    >>> [round(v, 3) for v in one_against_rest_nll(log_p.exp(), -log_p, torch.tensor([1]))]
    [49.307, 50.0, 0.0]
    """
    sums = []
    for c in range(len(p)):
        others = torch.cat((p[:c], p[c + 1 :])).sum(0)  # not 1 - p, which forgets small ones
        against = -others.clamp_min(torch.finfo(p.dtype).tiny).log()
        # Summed by NumPy, whose order the number of threads does not change.
        sums.append(float(torch.where(labels == c, costs[c], against).numpy().sum()))
    return sums
