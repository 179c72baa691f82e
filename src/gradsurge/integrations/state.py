"""A sketch as two flat tensors, whole numbers and sums: what frameworks know how to add up."""

import numpy as np
import torch
from torch import Tensor

from gradsurge.calibration import CalibrationSketch
from gradsurge.calibration.sketch_file import from_arrays, to_arrays

_COUNTS = ("counts", "edges", "tails", "clipped", "joint_clipped")
_SUMS = ("sums", "nll", "squares", "joint_nll", "ladder")


def to_tensors(sketch: CalibrationSketch) -> tuple[Tensor, Tensor]:
    """Return all counts as one int64 vector and all sums as one float64 vector."""
    arrays = to_arrays(sketch)
    counts, sums = (
        torch.from_numpy(np.concatenate([arrays[name].ravel() for name in names]))
        for names in (_COUNTS, _SUMS)
    )
    return counts, sums


def from_tensors(empty: CalibrationSketch, counts: Tensor, sums: Tensor) -> CalibrationSketch:
    """Return the sketch of the same form as ``empty`` that holds these counts and sums."""
    arrays = to_arrays(empty)
    for names, flat in ((_COUNTS, counts), (_SUMS, sums)):
        ends = np.cumsum([arrays[name].size for name in names])
        pieces = np.split(flat.detach().cpu().numpy(), ends[:-1])
        arrays |= {n: p.reshape(arrays[n].shape) for n, p in zip(names, pieces, strict=True)}
    return from_arrays(CalibrationSketch, arrays)
