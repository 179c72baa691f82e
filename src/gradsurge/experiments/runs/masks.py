"""From probabilities to hard masks: the likeliest class, or what reaches its threshold."""

from collections.abc import Sequence

import torch
from torch import Tensor

from gradsurge.experiments.runs.task import Task


def hard_masks(task: Task, probabilities: Tensor, thresholds: Sequence[float] | None) -> Tensor:
    """Return bool (F, *S): where each foreground class or region is predicted.

    Without thresholds: the likeliest class, or p > 1/2 for regions and single foregrounds. With
    thresholds t: p > t; of several exclusive classes that reach theirs, the one with the highest
    p / t.

    Args:
        task: what the channels are.
        probabilities: (K, *S).
        thresholds: one a foreground class or region.

    >>> organs = Task(("kidney", "tumour"), "softmax", 3, (), None)
    >>> p = torch.tensor([[0.5], [0.2], [0.3]])
    >>> hard_masks(organs, p, None).tolist(), hard_masks(organs, p, (0.1, 0.25)).tolist()
    ([[False], [False]], [[True], [False]])
    """
    p = task.foreground_of(probabilities)
    if task.kind == "multiclass" and thresholds is None:
        winner = probabilities.argmax(0)
        return torch.stack([winner == c for c in range(1, task.channels)])
    limits = torch.tensor(thresholds or [0.5] * len(p), dtype=p.dtype, device=p.device)
    if len(limits) != len(p):
        raise ValueError(
            f"thresholds: expected one for each of {', '.join(task.names)}, got {thresholds}"
        )
    limits = limits.view(-1, *[1] * (p.ndim - 1))
    reached = p > limits
    if task.kind != "multiclass":
        return reached
    winner = (p / limits.clamp_min(1e-12)).argmax(0)
    return reached & torch.stack([winner == c for c in range(len(p))])
