"""Region losses the long way round: probability maps, one-hot labels, formulas, autograd.

What the fused path must equal. Only the operators come from gradsurge; they are held against
their own closed forms in tests/properties.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from gradsurge import SurgeryRule, surgery_sigmoid, surgery_softmax
from gradsurge.losses import Dice, FocalTversky, GeneralisedDice, Jaccard, Tversky
from tests.properties.formulas import normalisation_of

EPS = 1e-5


def dice(i: Tensor, p: Tensor, y: Tensor, weights: Tensor | None) -> Tensor:
    return 1 - (2 * i + EPS) / (p + y + EPS)


def tversky(i: Tensor, p: Tensor, y: Tensor, weights: Tensor | None) -> Tensor:
    return 1 - (i + EPS) / (i + 0.3 * (p - i) + 0.7 * (y - i) + EPS)


def jaccard(i: Tensor, p: Tensor, y: Tensor, weights: Tensor | None) -> Tensor:
    return 1 - (i + EPS) / (p + y - i + EPS)


def focal_tversky(i: Tensor, p: Tensor, y: Tensor, weights: Tensor | None) -> Tensor:
    return (1 - (i + EPS) / (i + 0.3 * (p - i) + 0.7 * (y - i) + EPS)) ** 1.5


def generalised_dice(i: Tensor, p: Tensor, y: Tensor, weights: Tensor | None) -> Tensor:
    w = torch.zeros_like(y)
    for row, sizes in zip(w, y, strict=True):
        present = [float(size) ** -2 for size in sizes if size > 0]
        for c, size in enumerate(sizes):
            row[c] = float(size) ** -2 if size > 0 else max(present, default=1.0)
    w = w if weights is None else w * weights
    return 1 - (2 * (w * i).sum(1, True) + EPS) / ((w * (p + y)).sum(1, True) + EPS)


# name -> our class with its options, and the formula over (N, C) sums
REGION = {
    "dice": (Dice, {}, dice),
    "tversky": (Tversky, {"a": 0.3}, tversky),
    "jaccard": (Jaccard, {}, jaccard),
    "focal-tversky": (FocalTversky, {"a": 0.3, "gamma": 1.5}, focal_tversky),
    "generalised-dice": (GeneralisedDice, {}, generalised_dice),
}


@dataclass(frozen=True)
class Batch:
    """Logits, the target as passed to our loss, and the same as labels a channel with a mask."""

    logits: Tensor
    target: Tensor
    channels: Tensor
    kept: Tensor  # (N, 1, *S) or (N, C, *S), 1 where a voxel counts
    mask: Tensor | None = None
    ignore_index: int | None = None


def make_batch(kind: str, labels: str = "hard", dtype: torch.dtype = torch.float64) -> Batch:
    """kind: "two", "three" (softmax) or "sigmoid"; labels: hard, soft, masked or ignored."""
    r = torch.Generator().manual_seed(5)
    classes, n, spatial = {"two": 2, "three": 3, "sigmoid": 2}[kind], 3, (4, 5)
    logits = (torch.randn(n, classes, *spatial, generator=r, dtype=torch.float64) * 2).to(dtype)
    indices = torch.randint(0, classes, (n, *spatial), generator=r)
    indices[0].clamp_(max=classes - 2)  # a sample without the last class
    share = torch.rand(n, classes, *spatial, generator=r, dtype=torch.float64).to(dtype)
    kept = torch.rand(n, 1, *spatial, generator=r) > 0.3
    if kind == "sigmoid":
        target = share if labels == "soft" else share > 0.6
        channels, marked = target.to(dtype), target.long().masked_fill(~kept, 255)
    else:
        channels = F.one_hot(indices, classes).movedim(-1, 1).to(dtype)
        target, marked = indices, indices.masked_fill(~kept[:, 0], 255)
        if labels == "soft":
            target = channels = torch.stack((1 - share[:, 1], share[:, 1]), dim=1)
    if labels == "masked":
        return Batch(logits, target, channels, kept.to(dtype), mask=kept)
    if labels == "ignored":
        return Batch(logits, marked, channels, kept.to(dtype), ignore_index=255)
    return Batch(logits, target, channels, torch.ones_like(kept, dtype=dtype))


def composed_loss(
    z: Tensor,
    batch: Batch,
    name: str,
    *,
    activation: str,
    surgery: SurgeryRule | None = None,
    blend: float = 1.0,
    over_batch: bool = False,
    include_background: bool = False,
    class_weights: list[float] | None = None,
) -> Tensor:
    """Return the region loss by its formula."""
    p, y = _probabilities(z, batch, activation, surgery, blend), batch.channels * batch.kept
    p = p * batch.kept
    if surgery is not None:
        whole = "batch" if surgery.normalise and over_batch else surgery.normalise
        softmax = activation == "softmax"
        factor = normalisation_of(p.detach(), y, whole, softmax=softmax, blend=blend).to(p.dtype)
        p = p + (factor - 1) * (p - p.detach())  # p itself, with a gradient times the factor
    first = 0 if include_background or activation == "sigmoid" else 1
    sums = [(p * y).flatten(2).sum(-1), p.flatten(2).sum(-1), y.flatten(2).sum(-1)]
    sums = [s.sum(0, keepdim=True) if over_batch else s for s in sums]
    weights = None if class_weights is None else z.new_tensor(class_weights)[first:]
    losses = REGION[name][2](*(s[:, first:] for s in sums), weights)
    if weights is None or losses.shape[1] == 1:
        return losses.mean()
    return ((losses * weights).sum(1) / weights.sum()).mean()


def _probabilities(
    z: Tensor, batch: Batch, activation: str, surgery: SurgeryRule | None, blend: float
) -> Tensor:
    if surgery is None:
        return z.softmax(dim=1) if activation == "softmax" else z.sigmoid()
    operator = surgery_softmax if activation == "softmax" else surgery_sigmoid
    rule = {"decline": surgery.decline, "scale": surgery.scale, "normalise": False}
    return operator(z, batch.channels, blend=blend, **rule)


def composed_cross_entropy(
    z: Tensor, batch: Batch, *, activation: str, class_weights: list[float] | None = None
) -> Tensor:
    """Return the weighted mean of the voxels' negative log-likelihood."""
    y = batch.channels
    w = z.new_ones(z.shape[1]) if class_weights is None else z.new_tensor(class_weights)
    w = w.view(1, -1, *[1] * (z.ndim - 2))
    if activation == "sigmoid":
        nll = -(y * F.logsigmoid(z) + (1 - y) * F.logsigmoid(-z))
        return (w * nll * batch.kept).sum() / (w * batch.kept).expand_as(z).sum()
    return -(w * y * z.log_softmax(1) * batch.kept).sum() / (w * y * batch.kept).sum()


def value_and_gradient(function, logits: Tensor, *args: Tensor | None) -> tuple[Tensor, Tensor]:
    z = logits.clone().requires_grad_()
    value = function(z, *args)
    return value.detach(), torch.autograd.grad(value, z)[0]
