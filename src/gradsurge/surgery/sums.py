"""The sums over voxels that region losses and the normalisation are made of."""

import torch
from torch import Tensor

from gradsurge.surgery.blocks import blocks
from gradsurge.surgery.labels import Labels
from gradsurge.surgery.memory import Scratch
from gradsurge.surgery.precision import compute_dtype, sum_dtype
from gradsurge.surgery.region_binary import (
    GAP_SUMS,
    channel_sums,
    gap_sums,
    logit_gap,
    two_class_sums,
)
from gradsurge.surgery.region_multiclass import multiclass_sums
from gradsurge.surgery.rule import Activation, Operation, SurgeryRule, normalisation


def sum_up(logits: Tensor, labels: Labels, how: Operation) -> tuple[Tensor, Tensor]:
    """Return the (7, N, C) sums of `RegionSums`, piece by piece, and a sum that tells infinities.

    Of two classes an infinite gap leaves no other trace: p is 0 or 1. It is summed up where the gap
    is at hand, as long as logits are checked.
    """
    n, c = logits.shape[:2]
    z, dtype, kind = logits.flatten(2), compute_dtype(logits), how.kind(c)
    shape = {"two": (GAP_SUMS, n), "channels": (GAP_SUMS, n, c), "many": (7, n, c)}[kind]
    sums = torch.zeros(shape, dtype=sum_dtype(logits.device), device=logits.device)
    of_gaps = sums.new_zeros(())
    scratch = Scratch(logits, dtype, buffers=0 if kind == "many" else 2)
    for rows, voxels in blocks(n, z.shape[2], logits.device, channels=1 if kind == "two" else c):
        piece, at = z[rows, :, voxels].to(dtype), how.label_slices(rows, voxels)
        valid = labels.valid(at, dtype)
        if kind == "many":
            truth = labels.one_hot(at, c, dtype)
            part = multiclass_sums(piece, truth, valid, nll=how.nll, hard=how.hard)
        else:
            gap = logit_gap(piece, kind, scratch)
            if kind == "two" and how.check:
                of_gaps += gap.sum()
            y = labels.foreground(at, dtype, scratch.take())
            part = gap_sums(gap, y, valid, nll=how.nll, hard=how.hard, soft=labels.soft)
        sums[:, rows].add_(part)
    if kind == "many":
        return sums, of_gaps
    return (two_class_sums if kind == "two" else channel_sums)(sums), of_gaps


def normalising_factor(
    predicted: Tensor,
    target: Tensor,
    rule: SurgeryRule,
    activation: Activation,
    blend: float,
) -> Tensor:
    """Return what dL/dp of each sample and class is multiplied with, (N, C) or (1, C).

    Background, class 0 of a softmax, is left alone.
    """
    if rule.normalise == "batch":
        predicted, target = predicted.sum(0, keepdim=True), target.sum(0, keepdim=True)
    factor = normalisation(predicted, target, blend)
    if activation == "softmax":
        factor = torch.cat((torch.ones_like(factor[:, :1]), factor[:, 1:]), dim=1)
    return factor
