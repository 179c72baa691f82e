"""Voxels counted after a correction, so exactly that likelihoods before and after compare."""

from collections.abc import Iterator

import torch
from torch import Tensor

from gradsurge.calibration import CalibrationSketch, Recalibration
from gradsurge.experiments.runs.task import Task

_VOXELS = 1 << 22  # at a time in float64
_SURE = 36.0  # log-odds where float64 ends to tell p from 1
_TINY = 1e-300


def corrected(task: Task, correction: Recalibration | None, logits: Tensor) -> Tensor:
    """Return the probabilities (K, *S) of logits (K, *S) after a correction; None for none."""
    if correction is None:
        return task.probabilities(logits)
    return correction.apply_logits(logits, 0)


def corrected_logits(task: Task, correction: Recalibration, logits: Tensor) -> Tensor:
    """Return logits, float64 (K, *S), of the probabilities after a correction.

    Likelihoods are exact of them, where those of probabilities end at what these can tell from 0
    and 1. One foreground has one channel.
    """
    p = corrected(task, correction, logits.double())
    if task.kind == "multiclass":
        return p.clamp_min(_TINY).log()
    return torch.logit(task.foreground_of(p)).clamp(-_SURE, _SURE)


def count_corrected(
    task: Task,
    sketch: CalibrationSketch,
    correction: Recalibration,
    logits: Tensor,
    label: Tensor,
) -> None:
    """Count the known voxels of a case after a correction.

    As logits of the corrected probabilities: a sketch clips probabilities, and the raw NLL, which
    comes from logits, would be compared with a clipped one.
    """
    for rows in _slabs(logits.shape[1:]):
        here = label[rows]
        z = corrected_logits(task, correction, logits[:, rows])
        known = task.known(here)
        mask = None if known is None else known.unsqueeze(0)
        sketch.update_logits(z.unsqueeze(0), task.sketch_labels(here), mask)


def _slabs(shape: torch.Size) -> Iterator[slice]:
    step = max(1, _VOXELS // max(shape[1:].numel(), 1))
    for start in range(0, shape[0], step):
        yield slice(start, start + step)
