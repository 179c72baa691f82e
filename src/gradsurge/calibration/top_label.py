"""The top-label lens: the confidence in the predicted class, and whether it was right."""

import torch
from torch import Tensor

from gradsurge.calibration.histogram import Histogram


def doubts(confidence: Tensor, resolution: int) -> Tensor:
    """Return 1 - confidence (float64); what is on an edge k/R of the bins stays on one.

    >>> 1.0 - 0.8, doubts(torch.tensor([0.8], dtype=torch.float64), 25200).item()
    (0.19999999999999996, 0.2)
    """
    edge = (confidence * resolution).round()
    turned = (resolution - edge) / resolution
    return torch.where(edge / resolution == confidence, turned, 1.0 - confidence)


def binary_top_label(foreground: Histogram) -> Histogram:
    """Fold the histogram of the foreground probability at 1/2, exactly.

    Confidence is max(p, 1-p); the prediction is foreground where p > 1/2, as in a hard mask.
    """
    half = foreground.resolution // 2
    image = foreground.mirrored()
    folded = Histogram(foreground.resolution)
    for name in ("counts", "sums", "edges"):
        whole, turned = getattr(foreground, name), getattr(image, name)
        getattr(folded, name)[:, half:] = whole[:, half:] + turned[:, half:]
    # p = 1/2 is predicted background with confidence 1/2, the upper edge of the bin below.
    ties = image.edges[:, half - 1]
    folded.counts[:, half - 1] = folded.edges[:, half - 1] = ties
    folded.sums[:, half - 1] = ties / 2
    folded.tails[:, 1] = foreground.tails[:, 1] + image.tails[:, 1]
    folded.nll, folded.squares = foreground.nll, foreground.squares
    folded.clipped = foreground.clipped
    return folded
