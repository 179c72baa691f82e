"""The fused path: sums over a region straight from the logits, and the field straight back.

Every region loss is a function of a few sums per sample and class: I of p y, P of p, Y of y. So
dL/dp at a voxel is dL/dP + y dL/dI, two numbers per sample and class, and neither the
probabilities nor their gradient ever exist as a whole tensor. Cross-entropy joins in the same
pass as one more sum. The backward pass reads the logits once more and writes the gradient.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from gradsurge.surgery import targets
from gradsurge.surgery.blocks import blocks
from gradsurge.surgery.labels import Labels
from gradsurge.surgery.once import FieldFunction, loop_vmap
from gradsurge.surgery.operator import Operation, check_label_values, flat_labels, prepare
from gradsurge.surgery.planes import empty_planes
from gradsurge.surgery.precision import compute_dtype, sum_dtype
from gradsurge.surgery.rates import region_rates
from gradsurge.surgery.region_binary import (
    channel_slopes,
    channel_sums,
    gap_field,
    gap_sums,
    two_class_slopes,
    two_class_sums,
)
from gradsurge.surgery.region_multiclass import multiclass_region_field, multiclass_sums


class RegionSums(NamedTuple):
    """Sums over the voxels of each sample and class, all (N, C).

    intersection, predicted and target are the sums of p y, p and y; the two ``hard_`` ones are the
    same with the thresholded mask in place of p, and carry no gradient. ``nll`` is the sum of
    -log p_true over the voxels of a true class (softmax) or over a channel (sigmoid).
    """

    intersection: Tensor
    predicted: Tensor
    nll: Tensor
    target: Tensor
    hard_intersection: Tensor
    hard_predicted: Tensor
    voxels: Tensor


def region_sums(
    logits: Tensor,
    target: Tensor,
    operation: Operation,
    mask: Tensor | None = None,
    probe: Tensor | None = None,
) -> RegionSums:
    """Return the sums of a batch, differentiable by the operation's rule (plain without one)."""
    labels, valid, how = prepare(logits, target, operation, mask)
    soft, fixed = _RegionSums.apply(logits, labels, valid, probe, how)
    return RegionSums(*soft.unbind(), *fixed.unbind())


class _RegionSums(torch.autograd.Function):
    @staticmethod
    def forward(
        logits: Tensor, labels: Tensor, mask: Tensor | None, probe: Tensor | None, how: Operation
    ) -> tuple[Tensor, Tensor]:
        if how.check:
            check_label_values(labels, logits, how)
        sums = _sum_up(logits, flat_labels(labels, mask, logits, how), how)
        if how.check and not torch.compiler.is_compiling() and bool(sums[:3].isnan().any()):
            targets.check_finite(logits)
        return sums[:3].clone(), sums[3:].clone()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
        logits, labels, mask, _, ctx.how = inputs
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(logits, labels, mask, output[1])

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        run = _Field.forward if torch.compiler.is_compiling() else _Field.apply
        field, rates = run(grads[0], *ctx.saved_tensors, ctx.how)
        return field, None, None, rates if ctx.needs_input_grad[3] else None, None

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        return loop_vmap(_RegionSums.apply, info.batch_size, in_dims, args)


class _Field(FieldFunction):
    @staticmethod
    def forward(
        slopes: Tensor,
        logits: Tensor,
        labels: Tensor,
        mask: Tensor | None,
        fixed: Tensor,
        how: Operation,
    ) -> tuple[Tensor, Tensor]:
        field = _write_field(slopes, logits, flat_labels(labels, mask, logits, how), how)
        return field, region_rates(slopes, fixed[0], fixed[3], how)

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        return loop_vmap(_Field.apply, info.batch_size, in_dims, args)


def _sum_up(logits: Tensor, labels: Labels, how: Operation) -> Tensor:
    """Return the (7, N, C) sums of `RegionSums`, piece by piece."""
    (n, c), z, dtype = logits.shape[:2], logits.flatten(2), compute_dtype(logits)
    two_classes = how.activation == "softmax" and c == 2
    sums = torch.zeros(7, n, c, dtype=sum_dtype(logits.device), device=logits.device)
    for rows, voxels in blocks(n, z.shape[2], logits.device, channels=1 if two_classes else c):
        piece = z[rows, :, voxels].to(dtype)
        at = (rows, voxels) if how.activation == "softmax" else (rows, slice(None), voxels)
        valid = labels.valid(at, dtype)
        if how.activation == "softmax" and c > 2:
            truth = labels.one_hot(at, c, dtype)
            sums[:, rows] += multiclass_sums(piece, truth, valid, nll=how.nll, hard=how.hard)
            continue
        gap = piece[:, 1] - piece[:, 0] if two_classes else piece
        y = labels.foreground(at, dtype)
        gaps = gap_sums(gap, y, valid, nll=how.nll, hard=how.hard, soft=labels.soft)
        sums[:, rows] += two_class_sums(gaps) if two_classes else channel_sums(gaps)
    return sums


def _write_field(slopes: Tensor, logits: Tensor, labels: Labels, how: Operation) -> Tensor:
    """Return the field on the logits, written piece by piece."""
    (n, c), z, dtype = logits.shape[:2], logits.flatten(2), compute_dtype(logits)
    two_classes = how.activation == "softmax" and c == 2
    along_gap = two_class_slopes(slopes) if two_classes else channel_slopes(slopes)
    field, out = empty_planes(logits)
    for rows, voxels in blocks(n, z.shape[2], logits.device, channels=1 if two_classes else c):
        piece = z[rows, :, voxels].to(dtype)
        at = (rows, voxels) if how.activation == "softmax" else (rows, slice(None), voxels)
        valid = labels.valid(at, dtype)
        if how.activation == "softmax" and c > 2:
            truth = labels.one_hot(at, c, dtype)
            values = multiclass_region_field(
                piece, truth, slopes[:, rows], how.rule, how.blend, nll=how.nll
            )
            out[rows, :, voxels] = values if valid is None else values.mul_(valid.unsqueeze(1))
            continue
        gap = piece[:, 1] - piece[:, 0] if two_classes else piece
        constants = along_gap.rows(rows, dtype)
        y = labels.foreground(at, dtype)
        values = gap_field(gap, y, constants, how.rule, how.blend, nll=how.nll, soft=labels.soft)
        values = values if valid is None else values.mul_(valid)
        if two_classes:
            out[rows, 1, voxels] = values
            out[rows, 0, voxels] = values.neg_()
        else:
            out[rows, :, voxels] = values
    return field
