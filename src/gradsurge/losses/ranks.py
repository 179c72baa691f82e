"""Sums over all ranks of a distributed training."""

import torch
import torch.distributed as dist
from torch import Tensor

from gradsurge.surgery.once import call


def sum_over_ranks(x: Tensor) -> Tensor:
    """Return the sum of ``x`` over all ranks, differentiable; ``x`` itself without ranks.

    The backward pass sums the ranks' gradients too. DistributedDataParallel then averages over the
    ranks, which leaves the gradient that one process would have on the whole batch. Only where a
    gradient is wanted: validation on a single rank must not wait for the others.
    """
    if not (dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1):
        return x
    if not (torch.is_grad_enabled() and x.requires_grad):
        return x
    summed: Tensor = call(_SumOverRanks, x)
    return summed


class _SumOverRanks(torch.autograd.Function):
    @staticmethod
    def forward(ctx: object, x: Tensor) -> Tensor:
        total = x.detach().clone()
        dist.all_reduce(total)
        return total

    @staticmethod
    def backward(ctx: object, *grads: Tensor) -> Tensor:
        total = grads[0].clone()
        dist.all_reduce(total)
        return total
