"""The sliding window as a plain loop in float64: the oracle of its tests."""

import itertools
import math

import numpy as np


def plain_starts(size, window, overlap):
    if size <= window:
        return [0]
    step = max(1.0, window * (1 - overlap))
    count = math.ceil((size - window) / step) + 1
    return [int(np.round((size - window) / (count - 1) * i)) for i in range(count)]


def plain_weight(window, sigma):
    weight = np.ones(window)
    for index in np.ndindex(*window):
        squares = sum(
            ((x - (w - 1) / 2) / (sigma * w)) ** 2 for x, w in zip(index, window, strict=True)
        )
        weight[index] = max(1e-3, math.exp(-squares / 2))
    return weight


def plain_logits(model, image, window, overlap=0.5, sigma=0.125):
    """Return (K, *S) of a NumPy model (C, *W) -> (K, *W)."""
    added = [
        (max(w - n, 0) // 2, -(-max(w - n, 0) // 2))
        for n, w in zip(image.shape[1:], window, strict=True)
    ]
    padded = np.pad(image, [(0, 0), *added])
    weight = plain_weight(window, sigma)
    sums, totals = 0.0, np.zeros(padded.shape[1:])
    starts = [plain_starts(n, w, overlap) for n, w in zip(padded.shape[1:], window, strict=True)]
    for corner in itertools.product(*starts):
        box = tuple(slice(c, c + w) for c, w in zip(corner, window, strict=True))
        logits = model(padded[(slice(None), *box)])
        if np.isscalar(sums):
            sums = np.zeros((len(logits), *padded.shape[1:]))
        sums[(slice(None), *box)] += logits * weight
        totals[box] += weight
    cut = tuple(slice(b, b + n) for (b, _), n in zip(added, image.shape[1:], strict=True))
    return (sums / totals)[(slice(None), *cut)]
