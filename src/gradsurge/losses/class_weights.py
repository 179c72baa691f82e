"""One weight a class: checked when a loss is built, applied when it is computed."""

from collections.abc import Sequence

import torch
from torch import Tensor

ClassWeights = Sequence[float] | Tensor | None


def check_class_weights(weights: ClassWeights, first: int = 0) -> Tensor | None:
    """Return the weights as a tensor; raise unless they are >= 0 and some class has any."""
    if weights is None:
        return None
    expected = "class_weights: expected one finite number >= 0 a class, background included"
    try:
        values = torch.as_tensor(weights, dtype=torch.float64).detach().clone()
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(f"{expected}; got {weights!r}") from error
    fine = values.ndim == 1 and bool((values.isfinite() & (values >= 0)).all())
    if not fine or not bool((values[first:] > 0).any()):
        counted = "" if first == 0 else " after the background's, which is left out"
        raise ValueError(f"{expected}, with a positive one{counted}; got {values.tolist()}")
    # float32 so that the module can move to devices that have no float64.
    return values.float()


def weights_for(logits: Tensor, weights: Tensor | None) -> Tensor | None:
    """Return the weights in the dtype and on the device of ``logits``, one a channel."""
    if weights is None:
        return None
    if weights.numel() != logits.shape[1]:
        raise ValueError(
            f"class_weights: {logits.shape[1]} classes need {logits.shape[1]} weights, the "
            f"background's included; got {weights.numel()}"
        )
    return weights.to(logits)


def class_mean(values: Tensor, weights: Tensor | None) -> Tensor:
    """Mean of (..., C) ``values``, the classes weighted.

    >>> class_mean(torch.tensor([[0.0, 1.0]]), torch.tensor([1.0, 3.0])).item()
    0.75
    """
    if weights is None:
        return values.mean()
    return ((values * weights).sum(dim=-1) / weights.sum()).mean()
