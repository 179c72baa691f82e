"""Autograd plumbing shared by the operators: no second derivative, and vmap by a loop."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

NO_SECOND_DERIVATIVE = (
    "the surgery's backward pass is a vector field that is no scalar loss's gradient, so its "
    "derivative is not a Hessian and would mislead: second derivatives (double backward, "
    "create_graph followed by another backward) are refused. Use the same loss without surgery "
    "for them"
)


class FieldFunction(torch.autograd.Function):
    """Base of the functions that compute a field in backward: differentiable once, vmap-able."""

    @staticmethod
    def forward(*args: Any) -> Any:
        """Compute the field: the subclass's job."""
        raise TypeError("FieldFunction is abstract: define forward")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Keep nothing: there is no second derivative to prepare for."""

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        """Refuse."""
        raise RuntimeError(NO_SECOND_DERIVATIVE)


def call(function: type[torch.autograd.Function], *args: Any) -> Any:
    """Apply an autograd function: the one place where torch's missing annotation is met."""
    return function.apply(*args)


def loop_vmap(
    apply: Callable[..., Any], batch_size: int, in_dims: tuple[int | None, ...], args: Any
) -> tuple[Any, Any]:
    """Vmap rule of every operator: each entry on its own, then stacked.

    An entry is a whole (N, C, *S) batch, large enough that a loop costs nothing.
    """

    def entry(i: int) -> list[Any]:
        pairs = zip(args, in_dims, strict=True)
        return [a if dim is None else a.select(dim, i) for a, dim in pairs]

    results = [apply(*entry(i)) for i in range(batch_size)]
    if isinstance(results[0], tuple):
        stacked = [None if r[0] is None else torch.stack(r) for r in zip(*results, strict=True)]
        return tuple(stacked), tuple(None if s is None else 0 for s in stacked)
    return torch.stack(results), 0
