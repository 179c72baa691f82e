"""The ordinary gradient of the region sums, in operations that can be differentiated again."""

import torch
from torch import Tensor

from gradsurge.surgery.labels import Labels
from gradsurge.surgery.precision import compute_dtype
from gradsurge.surgery.rule import Operation


def plain_region_gradient(slopes: Tensor, logits: Tensor, labels: Labels, how: Operation) -> Tensor:
    """Return the gradient on the logits from dL/dI, dL/dP, dL/dNLL, (3, N, C).

    Same numbers as the fused path without a rule, but whole probability maps are built: only for
    second derivatives, which a loss without surgery has like any other.
    """
    z = logits.flatten(2).to(compute_dtype(logits))
    intersection, predicted, nll = slopes.to(z.dtype).unsqueeze(-1)
    everything = how.label_slices(slice(None), slice(None))
    valid = labels.valid(everything, z.dtype)
    y = _one_label_a_channel(labels, everything, z, how)
    g = predicted + intersection * y
    if how.activation == "sigmoid":
        p = z.sigmoid()
        gradient = g * p * (1.0 - p) + nll * (p - y)
    else:
        p = z.softmax(dim=1)
        gradient = p * (g - (p * g).sum(dim=1, keepdim=True))
        gradient = gradient + p * (nll * y).sum(dim=1, keepdim=True) - nll * y
        valid = None if valid is None else valid.unsqueeze(1)
    gradient = gradient if valid is None else gradient * valid
    result: Tensor = gradient.to(logits.dtype).view_as(logits)
    return result


def _one_label_a_channel(
    labels: Labels, everything: tuple[slice, ...], z: Tensor, how: Operation
) -> Tensor:
    if how.activation == "softmax" and not labels.soft:
        return labels.one_hot(everything, z.shape[1], z.dtype)
    y = labels.foreground(everything, z.dtype)
    return y if how.activation == "sigmoid" else torch.stack((1.0 - y, y), dim=1)
