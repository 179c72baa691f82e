"""Sketches of all ranks as one."""

from collections.abc import Sequence
from typing import Any

import torch

from gradsurge.calibration import CalibrationSketch
from gradsurge.integrations.state import from_tensors, to_tensors


def summed_over_ranks(
    sketches: Sequence[CalibrationSketch], strategy: Any, ranks: int, device: torch.device
) -> list[CalibrationSketch]:
    """Return the totals of all ranks; to be called on every rank with as many sketches.

    Args:
        sketches: of this rank.
        strategy: the trainer's, which knows how its ranks talk to each other.
        ranks: how many there are.
        device: on which they talk.
    """
    if ranks == 1:
        return list(sketches)
    totals = []
    for sketch in sketches:
        parts = [
            strategy.reduce(vector.to(device), reduce_op="sum") for vector in to_tensors(sketch)
        ]
        totals.append(from_tensors(CalibrationSketch(sketch.kind, sketch.classes), *parts))
    return totals
