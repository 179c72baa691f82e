"""The surgery written down naively, voxel formula by voxel formula: what the code must equal.

Nothing here is imported from gradsurge. Logits are (N, C, *S), g is dL/dp of the same shape.
"""

import torch
from torch import Tensor


def decline_of(e: Tensor, n: float | None) -> Tensor:
    return torch.ones_like(e) if n is None else (1 - e**n) * (1 - (1 - e) ** n)


def normalisation_of(
    p: Tensor,
    y: Tensor,
    normalise: bool | str,
    *,
    softmax: bool,
    blend: float = 1.0,
    sums: tuple[Tensor, Tensor] | None = None,
) -> Tensor:
    """What dL/dp is multiplied with, (N, C, 1...): (P + Y) / (2 Y), number by number.

    p and y (N, C, *S) are 0 where a voxel does not count. ``sums`` (N, C) in place of their own.
    """
    predicted, target = sums or (p.flatten(2).sum(2), y.flatten(2).sum(2))
    factors = torch.ones(p.shape[:2], dtype=p.dtype)
    for n in range(p.shape[0]):
        for c in range(int(softmax), p.shape[1]):  # background's stays 1
            samples = range(p.shape[0]) if normalise == "batch" else [n]
            size = sum(float(predicted[m, c]) for m in samples)
            truth = sum(float(target[m, c]) for m in samples)
            if normalise and truth > 0:
                factors[n, c] = 1 + blend * (min((size + truth) / (2 * truth), 1e4) - 1)
    return factors.view(*factors.shape, *[1] * (p.ndim - 2))


def listing_field(logits: Tensor, one_hot: Tensor, g: Tensor, n: float | None) -> Tensor:
    """Two classes, as the paper's listing computes it (appendix, GradSurgeSoftmax)."""
    p = torch.softmax(logits, dim=1)
    error = (p - one_hot).abs()
    weight = 0.25 * error
    if n is not None:
        weight = weight * (1 - error.pow(n)) * (1 - (1 - error).pow(n))
    foreground = weight[:, 1:2] * (g[:, 1:2] - g[:, 0:1])
    return torch.cat((-foreground, foreground), dim=1)


def plain_softmax_field(logits: Tensor, g: Tensor) -> Tensor:
    p = torch.softmax(logits, dim=1)
    return p * (g - (p * g).sum(dim=1, keepdim=True))


def soft_binary_field(logits: Tensor, y: Tensor, g: Tensor, n: float | None, s: float) -> Tensor:
    """Two classes with the foreground's share y (N, *S) in [0, 1]."""
    e = (y - torch.softmax(logits, dim=1)[:, 1]).abs()
    foreground = s * e * decline_of(e, n) * (g[:, 1] - g[:, 0])
    return torch.stack((-foreground, foreground), dim=1)


def multiclass_field(logits: Tensor, indices: Tensor, g: Tensor, n: float | None, s: float):
    """METHOD.md section 2, class by class, but for the argument of the decline.

    There it is p_t; ours is the largest probability (docs/theory.md says why). For two classes the
    decline is the same at p and at 1 - p, so there is no difference.
    """
    p = torch.softmax(logits, dim=1)
    field = torch.zeros_like(p)
    factor = s * decline_of(p.amax(dim=1), n)
    for t in range(logits.shape[1]):
        here = indices == t
        for c in range(logits.shape[1]):
            if c != t:
                pull = torch.where(here, factor * p[:, c] * (g[:, c] - g[:, t]), 0.0)
                field[:, c] += pull
                field[:, t] -= pull
    return field


def sigmoid_field(logits: Tensor, y: Tensor, g: Tensor, n: float | None, s: float) -> Tensor:
    e = (y - torch.sigmoid(logits)).abs()
    return s * e * decline_of(e, n) * g


def plain_sigmoid_field(logits: Tensor, g: Tensor) -> Tensor:
    p = torch.sigmoid(logits)
    return p * (1 - p) * g
