"""Ranks stop together, or not at all."""

from typing import TYPE_CHECKING, NamedTuple, TypeVar

import torch
import torch.distributed as dist

if TYPE_CHECKING:
    from lightning_fabric import Fabric

T = TypeVar("T")


class Verdict(NamedTuple):
    """Whether to stop, and the problem if there is one; the same on all ranks."""

    stop: bool
    problem: str | None


def agree(fabric: "Fabric", asked: bool, problem: str | None) -> Verdict:
    """Return whether any rank was asked to stop or has a problem.

    A rank that stopped alone would leave the others waiting for it.
    """
    if fabric.world_size == 1:
        return Verdict(asked or problem is not None, problem)
    flags = torch.tensor([float(asked), float(problem is not None)], device=fabric.device)
    fabric.all_reduce(flags, reduce_op="sum")
    stop, failed = (flags > 0).tolist()
    problems = gather(fabric, problem) if failed else []
    return Verdict(stop or failed, next((text for text in problems if text is not None), None))


def gather(fabric: "Fabric", value: T) -> list[T]:
    """Return the values of all ranks, on all ranks."""
    if fabric.world_size == 1:
        return [value]
    values = [value] * fabric.world_size
    dist.all_gather_object(values, value)
    return values


def mean_over_ranks(fabric: "Fabric", value: torch.Tensor) -> float:
    """Return the mean of a number over all ranks, on all ranks."""
    return float(fabric.all_reduce(value, reduce_op="mean"))
