"""The autograd function behind surgery_softmax and surgery_sigmoid."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from gradsurge.surgery import targets, values
from gradsurge.surgery.fields import sigmoid_field, softmax_field
from gradsurge.surgery.labels import Labels
from gradsurge.surgery.once import FieldFunction, call, loop_vmap
from gradsurge.surgery.precision import compute_dtype
from gradsurge.surgery.rule import Operation

# What, if anything, is to receive the measured rates as its gradient; asked for after all checks.
Probe = Callable[[Tensor], Tensor | None]


def no_probe(logits: Tensor) -> Tensor | None:  # noqa: ARG001
    """Measure nothing."""
    return None


class SurgeryOperator(torch.autograd.Function):
    """Activation going forward, field going back; keeps only its inputs, no copies.

    The gradient of ``probe`` is the measured rates (see `gradsurge.surgery.rates`): a measurement
    without side effects, which survives torch.compile, checkpointing and gradient accumulation.
    """

    @staticmethod
    def forward(
        logits: Tensor,
        labels: Tensor,
        mask: Tensor | None,
        probe: Tensor | None,
        operation: Operation,
    ) -> Tensor:
        """Return the probabilities in the logits' dtype."""
        if operation.check:
            values.check_finite(logits, operation.activation)
            check_label_values(labels, logits, operation)
        if operation.refuse_probabilities:
            values.check_not_probabilities(logits, operation.activation)
        z = logits.to(compute_dtype(logits))
        p = z.softmax(dim=1) if operation.activation == "softmax" else z.sigmoid()
        return p.to(logits.dtype)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        """Keep the inputs: the backward pass recomputes what it needs from the logits."""
        logits, labels, mask, _, ctx.operation = inputs
        ctx.save_for_backward(logits, labels, mask)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        """Return the field for the logits and the rates for the probe."""
        run: Callable[..., Any] = _Field.forward if torch.compiler.is_compiling() else _Field.apply
        measured = ctx.needs_input_grad[3]
        field, rates = run(grads[0], *ctx.saved_tensors, ctx.operation, measured)
        return field, None, None, rates.float() if measured else None, None

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """Apply to each entry of the mapped axis."""
        return loop_vmap(SurgeryOperator.apply, info.batch_size, in_dims, args)


class _Field(FieldFunction):
    @staticmethod
    def forward(
        grad: Tensor,
        logits: Tensor,
        labels: Tensor,
        mask: Tensor | None,
        operation: Operation,
        measured: bool,
    ) -> tuple[Tensor, Tensor]:
        flat = flat_labels(labels, mask, logits, operation)
        field = softmax_field if operation.activation == "softmax" else sigmoid_field
        return field(grad, logits, flat, operation, measured=measured)

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        return loop_vmap(_Field.apply, info.batch_size, in_dims, args)


def flat_labels(
    labels: Tensor, mask: Tensor | None, logits: Tensor, operation: Operation
) -> Labels:
    """Return labels and mask with the spatial axes flattened.

    Hard one-hot labels of a softmax become indices, soft ones the foreground's share.
    """
    softmax = operation.activation == "softmax"
    if softmax and labels.ndim == logits.ndim:
        labels = labels[:, 1] if operation.soft else targets.one_hot_indices(labels)
    first = 1 if softmax else 2
    valid = None if mask is None else mask.flatten(first)
    checked = operation.check and not torch.compiler.is_compiling()
    return Labels(labels.flatten(first), operation.ignore_index, valid, operation.soft, checked)


def check_label_values(labels: Tensor, logits: Tensor, operation: Operation) -> None:
    """Raise for labels that the operation does not take."""
    if operation.activation == "sigmoid":
        values.check_unit_interval(labels, operation.ignore_index)
    elif operation.soft:
        values.check_shares(labels)
    elif labels.ndim == logits.ndim:
        values.check_one_hot(labels)
    else:
        values.check_labels(labels, logits.shape[1], operation.ignore_index)


def prepare(
    logits: Tensor, target: Tensor, operation: Operation, mask: Tensor | None
) -> tuple[Tensor, Tensor, Tensor | None, Operation]:
    """Check shapes and dtypes; return logits, labels and mask in one form, and the operation."""
    logits, target = targets.plain(logits), targets.plain(target)
    mask = None if mask is None else targets.plain(mask)
    if operation.activation == "softmax":
        targets.check_logits(logits, min_channels=2)
        labels, soft = targets.softmax_labels(target, logits, operation.ignore_index)
    else:
        targets.check_logits(logits)
        labels = targets.channel_labels(target, logits)
        soft = labels.is_floating_point()
    valid = targets.valid_voxels(mask, logits, check=operation.check)
    if valid is not None and operation.activation == "softmax":
        valid = targets.one_mask_a_voxel(valid)
    ignored = targets.possible_ignore_index(labels, operation.ignore_index)
    return logits, labels, valid, replace(operation, soft=soft, ignore_index=ignored)


def operate(
    logits: Tensor,
    target: Tensor,
    operation: Operation,
    mask: Tensor | None = None,
    probe: Probe = no_probe,
) -> Tensor:
    """Return the probabilities, with the operation's backward pass."""
    logits, labels, valid, how = prepare(logits, target, operation, mask)
    p: Tensor = call(SurgeryOperator, logits, labels, valid, probe(logits), how)
    return p
