"""The invariants of the surgery as named assertions.

Each takes the tensors it compares, so that any path to a field (operator, wrapper, fused loss,
compiled or not) can be held against it.
"""

import torch
from torch import Tensor

from tests.properties.formulas import (
    listing_field,
    multiclass_field,
    normalisation_of,
    plain_sigmoid_field,
    plain_softmax_field,
    sigmoid_field,
)


def assert_forward_unchanged(p: Tensor, logits: Tensor, activation: str) -> None:
    """The probabilities are torch's own, bit for bit."""
    work = logits.detach()
    if work.dtype in (torch.float16, torch.bfloat16):
        work = work.float()
    expected = torch.softmax(work, dim=1) if activation == "softmax" else torch.sigmoid(work)
    assert p.dtype == logits.dtype
    assert torch.equal(p.detach(), expected.to(logits.dtype))


def assert_field_is_closed_form(
    field: Tensor,
    logits: Tensor,
    target: Tensor,
    g: Tensor,
    *,
    activation: str,
    decline: float | None,
    scale: float,
    normalise: bool | str,
    blend: float = 1.0,
) -> None:
    """The field is (1 - blend) plain + blend operated; target: indices, or channel labels."""
    z, softmax = logits.detach(), activation == "softmax"
    g = normalised(g.detach(), z, target, normalise, softmax=softmax, blend=blend)
    if softmax:
        operated = multiclass_field(z, target, g, decline, scale)
        plain = plain_softmax_field(z, g)
    else:
        operated = sigmoid_field(z, target.to(z.dtype), g, decline, scale)
        plain = plain_sigmoid_field(z, g)
    _assert_close(field, (1 - blend) * plain + blend * operated, g, max(scale, 1.0))


def assert_binary_equals_listing(
    field: Tensor,
    logits: Tensor,
    indices: Tensor,
    g: Tensor,
    decline: float | None,
    normalise: bool | str,
) -> None:
    """For two classes and the paper's scale the field is what the paper's code returns."""
    g = normalised(g, logits.detach(), indices, normalise, softmax=True)
    one_hot = torch.stack((indices == 0, indices == 1), dim=1).to(logits.dtype)
    _assert_close(field, listing_field(logits.detach(), one_hot, g.detach(), decline), g, 1.0)


def normalised(
    g: Tensor,
    logits: Tensor,
    target: Tensor,
    normalise: bool | str,
    *,
    softmax: bool,
    blend: float = 1.0,
) -> Tensor:
    """Return dL/dp times its normalisation; target: indices, or one label a channel."""
    p = torch.softmax(logits, dim=1) if softmax else torch.sigmoid(logits)
    if target.ndim < logits.ndim:
        target = torch.nn.functional.one_hot(target, logits.shape[1]).movedim(-1, 1)
    return g * normalisation_of(p, target.to(p.dtype), normalise, softmax=softmax, blend=blend)


def assert_sums_to_zero(field: Tensor, g: Tensor | None = None) -> None:
    """Nothing is pushed along the direction to which a softmax is blind.

    With ``g``, rounding may be as large as dL/dp makes it: the plain gradient is a difference.
    """
    rest = field.sum(dim=1).abs()
    size = field.abs().sum(dim=1) + (0.0 if g is None else g.abs().sum(dim=1))
    room = 8 * torch.finfo(field.dtype).eps * size
    assert bool((rest <= room).all()), f"channels sum to {rest.max().item():g}"


def assert_points_to_label(field: Tensor, indices: Tensor) -> None:
    """Descent raises the true class's logit at every voxel and lowers every other one's."""
    names = torch.arange(field.shape[1]).view(1, -1, *[1] * (field.ndim - 2))
    truth = indices.unsqueeze(1) == names
    assert bool((field[truth] <= 0).all()), "a true class is pushed down"
    assert bool((field[~truth] >= 0).all()), "a wrong class is pulled up"


def assert_no_field_at(field: Tensor, left_out: Tensor) -> None:
    """Voxels that do not count get exactly nothing; left_out is (N, *S) bool."""
    assert bool((field.movedim(1, -1)[left_out] == 0).all())


def _assert_close(field: Tensor, expected: Tensor, g: Tensor, scale: float) -> None:
    # The naive formulas lose digits of 1 - e to rounding, so the room is absolute: a few hundred
    # roundings of the largest term.
    room = 500 * torch.finfo(field.dtype).eps * scale * max(g.abs().max().item(), 1e-300)
    torch.testing.assert_close(field.detach(), expected, rtol=0, atol=room)
