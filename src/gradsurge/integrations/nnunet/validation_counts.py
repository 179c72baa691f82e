"""Calibration of the patches that nnU-Net validates on, counted beside its pseudo Dice."""

import math

import torch
import torch.distributed as dist
from torch import Tensor

from gradsurge.calibration import CalibrationSketch
from gradsurge.integrations.nnunet.loss import Task
from gradsurge.integrations.state import from_tensors, to_tensors

# Two million voxels tell ECE and NLL to three digits, in about a second; nnU-Net's fifty batches
# of two patches of 128³ hold two hundred million.
VOXELS_AN_EPOCH = 1 << 21


class ValidationCounts:
    """The sketch of one epoch's validation patches.

    Args:
        task: tells what the channels are, and which voxels have no label.
        steps: validation steps of an epoch, which share the voxels that are looked at.
    """

    def __init__(self, task: Task, steps: int) -> None:
        self.task = task
        self.voxels_a_step = max(1, VOXELS_AN_EPOCH // steps)
        self.sketch = _empty(task)

    def add(self, logits: Tensor, target: Tensor) -> None:
        """Count evenly spread voxels of a batch: logits (N, C, *S), target as nnU-Net has it.

        A batch that holds NaN or infinite logits is left out: the loss tells of it.
        """
        places = spread(math.prod((len(logits), *logits.shape[2:])), self.voxels_a_step)
        z = _picked(logits, places.to(logits.device)).float()
        labels = _picked(target, places.to(target.device))
        if not bool(z.isfinite().all()):
            return
        labels, mask = _split(labels, self.task)
        self.sketch.update_logits(z[None], labels[None], None if mask is None else mask[None])

    def scores(self, device: torch.device) -> tuple[float, float]:
        """Return NLL and ECE of what all ranks counted; NaN of nothing. Every rank must call it."""
        sketch = self.sketch
        if dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1:
            parts = [part.to(device) for part in to_tensors(sketch)]
            for part in parts:
                dist.all_reduce(part)
            sketch = from_tensors(sketch, *parts)
        return (sketch.nll(), sketch.ece()) if sketch.voxels else (math.nan, math.nan)


def spread(number: int, most: int) -> Tensor:
    """Return places among ``number`` voxels, evenly spread and at most so many.

    The step between two has no divisor in common with ``number``, so that not the same columns of
    every row are taken.

    >>> spread(12, 3).tolist(), spread(3, 5).tolist()
    ([0, 5, 10], [0, 1, 2])
    """
    step = -(-number // most)
    while math.gcd(step, number) > 1:
        step += 1
    return torch.arange(0, number, step)


def _picked(tensor: Tensor, places: Tensor) -> Tensor:
    """Return some voxels of (N, C, *S) as (C, V)."""
    flat = tensor.flatten(2)
    sample, voxel = places // flat.shape[2], places % flat.shape[2]
    return flat[sample, :, voxel].T.contiguous()


def _split(labels: Tensor, task: Task) -> tuple[Tensor, Tensor | None]:
    """Return labels as the sketch takes them, and which voxels count."""
    if task.regions:
        whole = labels.bool() if task.ignore_label is None else labels[:-1].bool()
        return whole, None if task.ignore_label is None else labels[-1] == 0
    numbers = labels[0].long()
    if task.ignore_label is None:
        return numbers, None
    kept = numbers != task.ignore_label
    return numbers.masked_fill(~kept, 0), kept


def _empty(task: Task) -> CalibrationSketch:
    if task.regions:
        return CalibrationSketch("multilabel", task.heads)
    return CalibrationSketch() if task.heads == 2 else CalibrationSketch("multiclass", task.heads)
