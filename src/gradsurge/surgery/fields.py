"""From dL/dp to the field on the logits, for any loss: the backward pass of both operators.

Beside the field each function returns what it was made of, see `gradsurge.surgery.rates`: zeros
unless ``measured``.
"""

import torch
from torch import Tensor

from gradsurge.surgery.binary import Slopes, binary_field
from gradsurge.surgery.blocks import blocks
from gradsurge.surgery.labels import Labels
from gradsurge.surgery.memory import Scratch
from gradsurge.surgery.multiclass import multiclass_field
from gradsurge.surgery.planes import empty_planes, write_pair
from gradsurge.surgery.precision import compute_dtype, sum_dtype
from gradsurge.surgery.rates import binary_rates, marked_if_soft, multiclass_rates
from gradsurge.surgery.rule import Operation, SurgeryRule
from gradsurge.surgery.sums import normalising_factor, sum_up

Piece = tuple[slice, slice]


def softmax_field(
    grad: Tensor,
    logits: Tensor,
    labels: Labels,
    how: Operation,
    *,
    measured: bool,
) -> tuple[Tensor, Tensor]:
    """Return the field, shape and dtype of ``logits``, and the rates (1, C, 2 C + 1)."""
    rule, blend, factor = how.rule, how.blend, _factor(logits, labels, how)
    n, c = logits.shape[:2]
    z, g, dtype = logits.flatten(2), grad.flatten(2), compute_dtype(logits)
    field, out = empty_planes(logits)
    rates = torch.zeros(c, 2 * c + 1, dtype=sum_dtype(logits.device), device=logits.device)
    into = rates if measured else None
    scratch = Scratch(logits, dtype, buffers=7 if c == 2 else 0)
    for rows, voxels in blocks(n, z.shape[2], logits.device, channels=1 if c == 2 else c):
        at, piece_out = (rows, voxels), out[rows, :, voxels]
        slope = g[rows, :, voxels].to(dtype)
        slope = slope if factor is None else slope * factor[rows]
        piece = z[rows, :, voxels].to(dtype), slope
        if c == 2:
            values = _two_classes(*piece, labels, at, rule, blend, scratch, into)
            write_pair(piece_out, values)
        else:
            piece_out[:] = _many_classes(*piece, labels, at, rule, blend, into)
    rates[:, :c] *= 0.0 if rule is None else rule.scale * blend
    rates = rates.unsqueeze(0)
    return field, marked_if_soft(rates, labels) if measured else rates


def _two_classes(
    z: Tensor,
    g: Tensor,
    labels: Labels,
    at: Piece,
    rule: SurgeryRule | None,
    blend: float,
    scratch: Scratch,
    rates: Tensor | None,
) -> Tensor:
    scratch.start(tuple(z[:, 0].shape))
    y, valid = labels.foreground(at, z.dtype, scratch.take()), labels.valid(at, z.dtype)
    coupling = torch.sub(g[:, 1], g[:, 0], out=scratch.take())
    if valid is not None:  # filled, not multiplied: the loss may say NaN there
        coupling, y = coupling.masked_fill_(valid == 0, 0.0), y * valid
    gap = torch.sub(z[:, 1], z[:, 0], out=scratch.take())
    if rates is not None:
        rates += binary_rates(gap, coupling, y, valid).sum(dim=0)
    slopes = Slopes(coupling, coupling)
    return binary_field(gap, y, slopes, rule, blend, scratch, soft=labels.soft)


def _many_classes(
    z: Tensor,
    g: Tensor,
    labels: Labels,
    at: Piece,
    rule: SurgeryRule | None,
    blend: float,
    rates: Tensor | None,
) -> Tensor:
    truth, valid = labels.one_hot(at, z.shape[1], z.dtype), labels.valid(at, z.dtype)
    difference = g - (g * truth).sum(1, keepdim=True)
    if valid is not None:
        kept = valid.unsqueeze(1)
        difference, truth = difference.masked_fill_(kept == 0, 0.0), truth.mul_(kept)
    p = z.softmax(dim=1)
    if rates is not None:
        rates += multiclass_rates(p, truth, difference)
    return multiclass_field(p, truth, difference, rule, blend)


def sigmoid_field(
    grad: Tensor,
    logits: Tensor,
    labels: Labels,
    how: Operation,
    *,
    measured: bool,
) -> tuple[Tensor, Tensor]:
    """Return the field, shape and dtype of ``logits``, and the rates (C, 2, 5)."""
    rule, blend, factor = how.rule, how.blend, _factor(logits, labels, how)
    n, c = logits.shape[:2]
    z, g = logits.flatten(2), grad.flatten(2)
    field, out = empty_planes(logits)
    rates = torch.zeros(c, 2, 5, dtype=sum_dtype(logits.device), device=logits.device)
    scratch = Scratch(logits, compute_dtype(logits), buffers=4)
    for rows, voxels in blocks(n, z.shape[2], logits.device, channels=c):
        at, dtype = (rows, slice(None), voxels), compute_dtype(logits)
        y, valid = labels.foreground(at, dtype), labels.valid(at, dtype)
        slope = g[at].to(dtype)
        slope = slope if factor is None else slope * factor[rows]
        if valid is not None:
            slope, y = slope.masked_fill(valid == 0, 0.0), y * valid
        slopes = Slopes(slope, slope)
        gap = z[at].to(dtype, copy=True)
        if measured:
            rates += binary_rates(gap, slope, y, valid).sum(dim=0)
        scratch.start(tuple(gap.shape))
        out[at] = binary_field(gap, y, slopes, rule, blend, scratch, soft=labels.soft)
    rates[:, :, :2] *= 0.0 if rule is None else rule.scale * blend
    return field, marked_if_soft(rates, labels) if measured else rates


def _factor(logits: Tensor, labels: Labels, how: Operation) -> Tensor | None:
    """Return what dL/dp is multiplied with, (N, C, 1), if anything."""
    if how.rule is None or not how.rule.normalise:
        return None
    sums, _ = sum_up(logits, labels, how)
    factor = normalising_factor(sums[1], sums[3], how.rule, how.activation, how.blend)
    return factor.to(compute_dtype(logits)).unsqueeze(-1).expand(len(logits), -1, -1)
