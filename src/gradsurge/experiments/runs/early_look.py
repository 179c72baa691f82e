"""A slice of a validation case while training: what the model believes so far."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from gradsurge.experiments.runs.task import Task


@dataclass(frozen=True)
class EarlyLook:
    """Plain arrays for a picture.

    Attributes:
        case: its name.
        step: of the training.
        names: of the foreground classes or regions.
        image: the first channel (H, W).
        labels: bool (F, H, W).
        probabilities: float32 (F, H, W).
        dice: of each foreground class, on the whole case; NaN where it is not there.
        aspect: height of a pixel over its width.
    """

    case: str
    step: int
    names: tuple[str, ...]
    image: NDArray[np.float32]
    labels: NDArray[np.bool_]
    probabilities: NDArray[np.float32]
    dice: tuple[float, ...]
    aspect: float


def look_at(
    task: Task,
    case: str,
    step: int,
    image: Tensor,
    label: Tensor,
    probabilities: Tensor,
    dice: Sequence[float],
    spacing: Sequence[float],
) -> EarlyLook:
    """Return the slice with the most foreground, across the thickest voxels, of (C, *S)."""
    labels = task.foreground(label)
    planes: list[NDArray[Any]] = [
        image[0].float().numpy(),
        labels.numpy(),
        task.foreground_of(probabilities).float().numpy(),
    ]
    down, across = 0, 1
    if label.ndim == 3:
        axis = max((2, 1, 0), key=lambda a: spacing[a])
        others = [a for a in range(3) if a != axis]
        at = int(labels.any(0).sum(others).argmax()) if bool(labels.any()) else -1
        at = label.shape[axis] // 2 if at < 0 else at
        # RAS+ arrays count to the right, the front and the top: upright once turned.
        planes = [np.rot90(p.take(at, axis - 3), axes=(-2, -1)) for p in planes]
        across, down = others
    return EarlyLook(
        case=case,
        step=step,
        names=task.names,
        image=np.ascontiguousarray(planes[0]),
        labels=np.ascontiguousarray(planes[1]),
        probabilities=np.ascontiguousarray(planes[2]),
        dice=tuple(dice),
        aspect=float(spacing[down] / spacing[across]),
    )
