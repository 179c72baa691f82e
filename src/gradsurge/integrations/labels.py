"""Labels as other frameworks pass them: floats, and one-hot channels of exclusive classes."""

import torch
from torch import Tensor

from gradsurge.calibration import CalibrationSketch


def class_labels(name: str, given: Tensor, scores: Tensor, sketch: CalibrationSketch) -> Tensor:
    """Return whole numbers, of floats too, and class indices of one-hot labels.

    Args:
        name: of the argument, for errors.
        given: class indices, (N, *S) or (N, 1, *S), or one-hot, (N, C, *S); multilabel: a mask a
            channel.
        scores: logits or probabilities that they belong to, (N, C, *S).
        sketch: that will count them.

    Raises:
        ValueError: for fractions, and for channels that are not one-hot.
    """
    whole = given.long() if given.is_floating_point() else given
    if bool((whole != given).any()):
        raise ValueError(
            f"{name}: expected whole numbers, class indices or one-hot, got fractions or NaN"
        )
    channels = given.shape[1:2]
    if sketch.kind == "multilabel" or given.ndim != scores.ndim or channels in ((), (1,)):
        return whole
    fits = given.shape[1] == sketch.classes
    if not fits or bool((whole.sum(1) != 1).any()) or bool((whole < 0).any()):
        raise ValueError(
            f"{name}: expected class indices, or one-hot labels in {sketch.classes} channels, got "
            f"shape {tuple(given.shape)} and other values; overlapping labels need "
            f"kind='multilabel'"
        )
    return whole.to(torch.uint8).argmax(1)
