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
    if number_of_ranks() == 1 or not (torch.is_grad_enabled() and x.requires_grad):
        return x
    summed: Tensor = call(_SumOverRanks, x)
    return summed


def mean_over_ranks(count: Tensor, of: Tensor) -> Tensor:
    """Return the mean of a count over all ranks; the count itself without ranks.

    A sum divided by it has, once averaged over the ranks, the value and the gradient of all voxels
    together: a rank with few voxels that count does not make each of them weigh more.

    Args:
        count: what this rank counted; no gradient flows through it.
        of: the sum that will be divided. Where no gradient of it is wanted, ranks do not wait for
            each other.
    """
    ranks = number_of_ranks()
    if ranks == 1 or not (torch.is_grad_enabled() and of.requires_grad):
        return count
    total = count.detach().clone()
    dist.all_reduce(total)
    return total / ranks


def number_of_ranks() -> int:
    """Return how many processes train together; 1 outside of a distributed training."""
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


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
