"""Batches as nnU-Net's loaders hand them out: outputs and targets of several resolutions."""

from typing import NamedTuple

import torch

from gradsurge.integrations.nnunet.loss import Task

SHAPES = ((6, 8, 4), (3, 4, 2), (2, 2, 1))
WEIGHTS = (2 / 3, 1 / 3, 0.0)  # nnU-Net leaves the coarsest out
IGNORE = 3

TASKS = {
    f"{kind}{', ignore label' if ignore else ''}{', batch Dice' if batch else ''}": Task(
        3, kind == "regions", IGNORE if ignore else None, batch
    )
    for kind in ("classes", "regions")
    for ignore in (False, True)
    for batch in (False, True)
}


class Batch(NamedTuple):
    outputs: list[torch.Tensor]
    targets: list[torch.Tensor]


def batch_of(task, seed=0, samples=2, dtype=torch.float64):
    """Random logits of three resolutions, and targets with the dtypes of nnU-Net's."""
    draws = torch.Generator().manual_seed(seed)
    outputs = [torch.randn(samples, task.heads, *s, generator=draws, dtype=dtype) for s in SHAPES]
    ignored = task.ignore_label is not None
    if task.regions:
        sizes = [(samples, task.heads + ignored, *s) for s in SHAPES]
        targets = [torch.rand(n, generator=draws) > 0.6 for n in sizes]
    else:
        sizes = [(samples, 1, *s) for s in SHAPES]
        targets = [torch.randint(0, 3 + ignored, n, generator=draws).short() for n in sizes]
    return Batch([3 * z for z in outputs], targets)


def gradients(loss, batch):
    """The value, and the gradient that reaches the logits of each resolution that counts."""
    outputs = [z.detach().clone().requires_grad_() for z in batch.outputs]
    value = loss(outputs, batch.targets)
    value.backward()
    return value.detach(), [z.grad for z in outputs if z.grad is not None]
