"""Recognise, in losses of other packages, what would make surgery on them wrong."""

from collections.abc import Iterator
from typing import Any

from torch import nn

# Argument of a known loss -> the value with which it leaves probabilities alone.
_OWN_ACTIVATION = {
    "softmax": False,  # MONAI
    "sigmoid": False,
    "other_act": None,
    "apply_nonlin": None,  # nnU-Net
    "from_logits": False,  # segmentation-models-pytorch
}
_TAKE_LOGITS = (nn.CrossEntropyLoss, nn.BCEWithLogitsLoss, nn.NLLLoss)


def check_takes_probabilities(loss: Any) -> None:
    """Raise if ``loss``, or a part of it, applies an activation itself."""
    if not callable(loss):
        raise TypeError(
            f"region_loss: expected a callable (probabilities, one_hot) -> scalar, got "
            f"{type(loss).__name__}"
        )
    for part in _parts(loss):
        kind = type(part).__name__
        for argument, harmless in _OWN_ACTIVATION.items():
            value = getattr(part, argument, harmless)
            if value is not harmless and value is not None:
                raise ValueError(
                    f"region_loss: {kind} applies its own activation ({argument}={value!r}), so it "
                    f"expects logits; surgery passes probabilities. Build it with "
                    f"{argument}={harmless}"
                )
        if isinstance(part, _TAKE_LOGITS):
            raise ValueError(
                f"region_loss: contains {kind}, which expects logits; surgery passes "
                f"probabilities. Wrap the region part alone and add cross-entropy beside it, or "
                f"use make_loss('ce+dice-surgery')"
            )


def wants_class_indices(loss: Any) -> bool:
    """Whether ``loss`` turns (N, 1, *S) class indices into one-hot labels itself (MONAI)."""
    return bool(getattr(loss, "to_onehot_y", False))


def _parts(loss: Any) -> Iterator[Any]:
    if isinstance(loss, nn.Module):
        yield from loss.modules()
    else:
        yield loss
