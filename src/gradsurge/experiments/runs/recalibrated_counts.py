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
        p = corrected(task, correction, logits[:, rows].double())
        if task.kind == "multiclass":
            z = p.clamp_min(_TINY).log()
        else:
            z = torch.logit(task.foreground_of(p)).clamp(-_SURE, _SURE)
        known = task.known(here)
        mask = None if known is None else known.unsqueeze(0)
        sketch.update_logits(z.unsqueeze(0), task.sketch_labels(here), mask)


def _slabs(shape: torch.Size) -> Iterator[slice]:
    step = max(1, _VOXELS // max(shape[1:].numel(), 1))
    for start in range(0, shape[0], step):
        yield slice(start, start + step)
