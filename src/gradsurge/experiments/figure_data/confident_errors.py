"""Confident errors: voxels that a network is sure of and wrong about, and where they crowd."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter
from torch import Tensor

from gradsurge.experiments.runs import Task

CONFIDENT = 0.9
"""An error |y - p| of this size and above is a confident one."""
_FEWEST = 3  # pixels that are worth a mark


@dataclass(frozen=True)
class Mark:
    """A place in a plane where confident errors crowd.

    Attributes:
        row, column: its middle.
        missed: whether the structure is there and was not seen; else it was seen and is not there.
    """

    row: float
    column: float
    missed: bool


def structure_errors(task: Task, probabilities: Tensor, label: Tensor) -> Tensor:
    """Return |y - p| of each structure, (F, *S); 0 where the label is unknown.

    Args:
        task: what the classes are.
        probabilities: of the foreground, (F, *S).
        label: class numbers (*S).
    """
    errors = (task.foreground(label).to(probabilities.dtype) - probabilities).abs()
    known = task.known(label)
    return errors if known is None else errors * known


def choose_structure(task: Task, errors: Tensor, name: str | None) -> int:
    """Return the structure of a name, or the one with the most confident errors.

    Raises:
        ValueError: there is none of that name.
    """
    if name is None:
        return int((errors >= CONFIDENT).flatten(1).sum(1, dtype=torch.int64).argmax())
    if name not in task.names:
        raise ValueError(f"structure: no {name!r} here; there are: {', '.join(task.names)}")
    return task.names.index(name)


def find_marks(
    error: NDArray[np.floating],
    label: NDArray[np.bool_],
    reach: Sequence[int],
    most: int = 3,
) -> list[Mark]:
    """Return the places with the most confident errors, the most crowded first.

    Args:
        error: |y - p|, (H, W).
        label: where the structure is, (H, W).
        reach: rows and columns to each side that a mark stands for.
        most: marks; none is within the reach of another.

    >>> error = np.zeros((9, 9))
    >>> error[4, 2:5] = 0.95
    >>> find_marks(error, np.zeros((9, 9), np.bool_), (1, 1))
    [Mark(row=4.0, column=3.0, missed=False)]
    """
    left = error >= CONFIDENT
    size = [2 * side + 1 for side in reach]
    marks: list[Mark] = []
    while len(marks) < most:
        crowd = uniform_filter(left.astype(np.float64), size, mode="constant") * np.prod(size)
        if crowd.max(initial=0.0) < _FEWEST - 0.5:  # sums of a filter are not quite whole
            break
        at = np.unravel_index(int(crowd.argmax()), crowd.shape)
        box = _box(at, reach)
        rows, columns = np.nonzero(left[box])
        row, column = box[0].start + rows.mean(), box[1].start + columns.mean()
        missed = label[box][left[box]].mean() > 0.5
        marks.append(Mark(float(row), float(column), bool(missed)))
        left[_box((round(row), round(column)), [2 * side for side in reach])] = False
    return marks


def _box(at: Sequence[int | np.intp], reach: Sequence[int]) -> tuple[slice, ...]:
    return tuple(
        slice(max(0, int(place) - side), int(place) + side + 1)
        for place, side in zip(at, reach, strict=True)
    )
