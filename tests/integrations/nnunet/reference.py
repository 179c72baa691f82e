"""nnU-Net's compound losses written down again from its formulas, one term a line, in float64.

``real_losses.py`` compares with the package itself, where there is one; this holds everywhere.
"""

import torch
import torch.nn.functional as F

SMOOTH = 1e-5


def dice(p, y, mask, *, batch, background):
    """-D of probabilities and one-hot labels (N, C, *S), mean over samples and classes."""
    first = 0 if background else 1
    p, y = (p * mask)[:, first:].flatten(2), (y * mask)[:, first:].flatten(2)
    axes = (0, 2) if batch else 2
    intersection, both = (p * y).sum(axes), p.sum(axes) + y.sum(axes)
    return -((2 * intersection + SMOOTH) / (both + SMOOTH)).mean()


def classes(z, target, *, batch, ignore=None, activation=None):
    """DC_and_CE of class indices (N, 1, *S)."""
    mask = torch.ones_like(target) if ignore is None else (target != ignore).to(target.dtype)
    numbers = target[:, 0].long()
    known = numbers if ignore is None else numbers.masked_fill(numbers == ignore, 0)
    y = F.one_hot(known, z.shape[1]).movedim(-1, 1).to(z.dtype)
    p = z.softmax(1) if activation is None else activation(z)
    ce = F.cross_entropy(z, numbers, ignore_index=-100 if ignore is None else ignore)
    return ce + dice(p, y, mask, batch=batch, background=False)


def regions(z, target, *, batch, ignored_last=False, activation=None):
    """DC_and_BCE of regions (N, C, *S), with ignored voxels in a channel more."""
    mask = torch.ones_like(z[:, :1])
    if ignored_last:
        target, mask = target[:, :-1], 1 - target[:, -1:].to(z.dtype)
    y = target.to(z.dtype)
    ce = F.binary_cross_entropy_with_logits(z, y, reduction="none")
    # With an ignore label nnU-Net sums over the channels, without it takes their mean.
    ce = (ce * mask).sum() / mask.sum() if ignored_last else ce.mean()
    p = z.sigmoid() if activation is None else activation(z)
    return ce + dice(p, y, mask, batch=batch, background=True)
