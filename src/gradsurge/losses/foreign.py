"""Recognise, in losses of other packages, what would make surgery on them wrong."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import torch.nn.functional as F
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
_FUNCTIONS_OF_LOGITS = (F.cross_entropy, F.binary_cross_entropy_with_logits, F.nll_loss)
# By name: MONAI's and others', not worth importing.
_TAKE_LOGITS_TOO = ("FocalLoss",)
_ALWAYS_SOFTMAX = ("GeneralizedWassersteinDiceLoss",)


def check_takes_probabilities(loss: Any) -> None:
    """Raise if ``loss``, or a part of it, applies an activation itself."""
    if not callable(loss):
        raise TypeError(
            f"region_loss: expected a callable (probabilities, one_hot) -> scalar, got "
            f"{type(loss).__name__}"
        )
    parts = list(_parts(loss))
    for part in parts:
        _check_takes_no_logits(part)
    for part in parts:
        _check_options(part)


def _check_takes_no_logits(part: Any) -> None:
    kind = type(part).__name__
    if any(base.__module__.partition(".")[0] == "gradsurge" for base in type(part).__mro__):
        raise TypeError(
            f"region_loss: {kind} of gradsurge takes logits, surgery passes probabilities; a "
            f"region loss is operated on with surgery=SurgeryRule(...), or by make_loss with a "
            f"name that ends in -surgery"
        )
    if kind in _ALWAYS_SOFTMAX:
        raise ValueError(
            f"region_loss: {kind} always applies its own softmax, so it expects logits; surgery "
            f"passes probabilities"
        )
    if any(part is function for function in _FUNCTIONS_OF_LOGITS):
        kind = part.__name__
    elif not isinstance(part, _TAKE_LOGITS) and kind not in _TAKE_LOGITS_TOO:
        return
    raise ValueError(
        f"region_loss: contains {kind}, which expects logits; surgery passes probabilities. "
        f"Wrap the region part alone and add the other beside it, or use "
        f"make_loss('ce+dice-surgery')"
    )


def _check_options(part: Any) -> None:
    kind = type(part).__name__
    for argument, harmless in _OWN_ACTIVATION.items():
        # MONAI's MaskedDiceLoss keeps them with the prefix and shows its base class harmless ones.
        value = getattr(part, f"pre_{argument}", getattr(part, argument, harmless))
        if value is not harmless and value is not None:
            raise ValueError(
                f"region_loss: {kind} applies its own activation ({argument}={value!r}), so it "
                f"expects logits; surgery passes probabilities. Build it with "
                f"{argument}={harmless}"
            )
    unlabelled = getattr(part, "ignore_index", None)
    if unlabelled is not None:
        raise ValueError(
            f"region_loss: {kind} has its own ignore_index={unlabelled!r}, which one-hot labels "
            f"cannot hold. Build it with ignore_index=None and pass ignore_index to Surgery"
        )


def wants_class_indices(loss: Any) -> bool:
    """Whether ``loss`` turns (N, 1, *S) class indices into one-hot labels itself (MONAI)."""
    return bool(getattr(loss, "to_onehot_y", False))


def takes_one_score_a_batch(loss: Any) -> bool:
    """Whether ``loss``, or a part of it, sums over the batch (MONAI, nnU-Net)."""
    return any(
        getattr(part, name, False) is True
        for part in _parts(loss)
        for name in ("batch", "batch_dice")
    )


def _parts(loss: Any) -> Iterator[Any]:
    if isinstance(loss, nn.Module):
        yield from loss.modules()
    elif isinstance(loss, partial):
        yield from _parts(loss.func)
    else:
        yield loss
