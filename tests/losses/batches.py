"""Small random batches, and the gradient of a loss on them, for the tests of the losses."""

import torch
import torch.nn.functional as F


def batch(spatial, classes=3, samples=2, seed=0, dtype=torch.float64):
    g = torch.Generator().manual_seed(seed)
    logits = torch.randn(samples, classes, *spatial, generator=g, dtype=dtype) * 2
    target = torch.randint(0, classes, (samples, *spatial), generator=g)
    return logits.requires_grad_(), target


def gradient(loss, logits, target):
    return torch.autograd.grad(loss(logits, target), logits)[0]


def hot(target, classes=3):
    return F.one_hot(target, classes).movedim(-1, 1)
