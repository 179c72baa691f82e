"""Whether a loss that others hold takes the argument ``mask``."""

import inspect

from torch import nn


def takes_mask(loss: nn.Module) -> bool:
    """Whether ``loss(logits, target, mask=...)`` can be called."""
    parameters = inspect.signature(loss.forward).parameters
    return "mask" in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def refuse_mask(loss: nn.Module) -> None:
    """Raise: a mask was given, and ``loss`` cannot heed it."""
    raise TypeError(f"mask: {type(loss).__name__} takes no mask; use ignore_index")
