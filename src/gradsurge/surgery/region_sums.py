"""The fused path: sums over a region straight from the logits, and the field straight back.

Every region loss is a function of a few sums per sample and class: I of p y, P of p, Y of y. So
dL/dp at a voxel is dL/dP + y dL/dI, two numbers per sample and class, and neither the
probabilities nor their gradient ever exist as a whole tensor. Cross-entropy joins in the same
pass as one more sum. The backward pass reads the logits once more and writes the gradient.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from gradsurge.surgery.binary import binary_field
from gradsurge.surgery.blocks import blocks
from gradsurge.surgery.labels import Labels
from gradsurge.surgery.memory import Scratch
from gradsurge.surgery.once import FieldFunction, call, loop_vmap
from gradsurge.surgery.operator import (
    Probe,
    check_label_values,
    flat_labels,
    no_probe,
    prepare,
)
from gradsurge.surgery.planes import empty_planes, foreground_of, write_pair
from gradsurge.surgery.precision import compute_dtype, sum_dtype
from gradsurge.surgery.rates import confusion_sums, marked_if_soft, region_rates
from gradsurge.surgery.region_binary import channel_slopes, logit_gap, two_class_slopes
from gradsurge.surgery.region_multiclass import multiclass_region_field
from gradsurge.surgery.region_plain import plain_region_gradient
from gradsurge.surgery.rule import Operation
from gradsurge.surgery.sums import sum_up
from gradsurge.surgery.values import check_finite


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
    probe: Probe = no_probe,
) -> RegionSums:
    """Return the sums of a batch, differentiable by the operation's rule (plain without one)."""
    logits, labels, valid, how = prepare(logits, target, operation, mask)
    soft, fixed = call(_RegionSums, logits, labels, valid, probe(logits), how)
    return RegionSums(*soft.unbind(), *fixed.unbind())


class _RegionSums(torch.autograd.Function):
    @staticmethod
    def forward(
        logits: Tensor, labels: Tensor, mask: Tensor | None, probe: Tensor | None, how: Operation
    ) -> tuple[Tensor, Tensor]:
        if how.check:
            check_label_values(labels, logits, how)
        sums, of_gaps = sum_up(logits, flat_labels(labels, mask, logits, how), how)
        checking = how.check and not torch.compiler.is_compiling()
        if checking and not bool((sums[:3].sum() + of_gaps).isfinite()):
            check_finite(logits, how.activation)
        return sums[:3].clone(), sums[3:].clone()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
        logits, labels, mask, _, ctx.how = inputs
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(logits, labels, mask, *output)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        logits, labels, mask, soft, fixed = ctx.saved_tensors
        compiling = torch.compiler.is_compiling()
        if ctx.how.rule is None and torch.is_grad_enabled() and not compiling:
            flat = flat_labels(labels, mask, logits, ctx.how)  # a second derivative may follow
            return plain_region_gradient(grads[0], logits, flat, ctx.how), None, None, None, None
        run: Callable[..., Any] = _Field.forward if compiling else _Field.apply
        measured, sums = ctx.needs_input_grad[3], torch.stack((soft[0], soft[1], fixed[0]))
        field, rates = run(grads[0], logits, labels, mask, sums, ctx.how, measured)
        return field, None, None, rates.float() if measured else None, None

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
        sums: Tensor,
        how: Operation,
        measured: bool,
    ) -> tuple[Tensor, Tensor]:
        flat = flat_labels(labels, mask, logits, how)
        field, confusion = _write_field(slopes, logits, flat, how, measured=measured)
        if not measured:
            return field, slopes.new_zeros(())
        strength = 0.0 if how.rule is None else how.rule.scale * how.blend
        sigmoid = how.activation == "sigmoid"
        rates = region_rates(slopes, sums, confusion, strength, sigmoid=sigmoid)
        return field, marked_if_soft(rates, flat)

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        return loop_vmap(_Field.apply, info.batch_size, in_dims, args)


def _write_field(
    slopes: Tensor, logits: Tensor, labels: Labels, how: Operation, *, measured: bool
) -> tuple[Tensor, Tensor | None]:
    """Return the field on the logits, written piece by piece; of many classes what is measured."""
    n, c = logits.shape[:2]
    z, dtype, kind = logits.flatten(2), compute_dtype(logits), how.kind(c)
    slopes, confusion = slopes.to(dtype), None
    if kind == "many" and measured:
        confusion = torch.zeros(n, c, c, dtype=sum_dtype(logits.device), device=logits.device)
    along_gap = (two_class_slopes if kind == "two" else channel_slopes)(slopes, nll=how.nll)
    field, out = empty_planes(logits)
    pieces = list(blocks(n, z.shape[2], logits.device, channels=1 if kind == "two" else c))
    scratch = Scratch(logits, dtype, buffers=0 if kind == "many" else 4)
    for rows, voxels in reversed(pieces):  # what was summed last is still in the cache
        piece, at = z[rows, :, voxels].to(dtype), how.label_slices(rows, voxels)
        valid = labels.valid(at, dtype)
        if kind == "many":
            p, truth = piece.softmax(dim=1), labels.one_hot(at, c, dtype)
            of_rows = slopes[:, rows]
            values = multiclass_region_field(p, truth, of_rows, how.rule, how.blend, how.nll)
            valid = valid if valid is None else valid.unsqueeze(1)
            if confusion is not None:
                confusion[rows] += confusion_sums(p, truth if valid is None else truth * valid)
        else:
            gap, at_rows = logit_gap(piece, kind, scratch), along_gap.rows(rows)
            y = labels.foreground(at, dtype, scratch.take())
            place = foreground_of(out[rows, :, voxels], dtype) if kind == "two" else None
            if place is not None:  # the result's own memory serves until the result is written
                scratch.lend(first=out[rows, 0, voxels], last=place)
            values = binary_field(
                gap, y, at_rows, how.rule, how.blend, scratch, soft=labels.soft, out=place
            )
        if valid is not None:  # filled, not multiplied: a loss of nothing may say NaN
            values = values.masked_fill_(valid == 0, 0.0)
        if kind == "two":
            write_pair(out[rows, :, voxels], values)
        else:
            out[rows, :, voxels] = values
    return field, confusion
