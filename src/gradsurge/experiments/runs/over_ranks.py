"""What the ranks of a distributed training found, put together: the same on all of them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor

from gradsurge.calibration import CalibrationSketch
from gradsurge.calibration.sketch_file import from_arrays, to_arrays

Item = TypeVar("Item")
_FORM = ("version", "kind", "classes", "resolution")


class Ranks(NamedTuple):
    """This process among all that train one model.

    Attributes:
        rank: its number.
        number: how many there are.
        device: where tensors must lie to be summed.
    """

    rank: int = 0
    number: int = 1
    device: torch.device = torch.device("cpu")

    def share(self, items: Sequence[Item]) -> list[tuple[int, Item]]:
        """Return the items of this rank with their places among all.

        >>> Ranks(1, 2).share("abc")
        [(1, 'b')]
        """
        return list(enumerate(items))[self.rank :: self.number]

    @contextmanager
    def together(self) -> Iterator[None]:
        """Let each rank do its share; what fails on one is raised on all, before they sum.

        Raises:
            ValueError: with the first problem of all ranks.
        """
        if self.number == 1:
            yield
            return
        problem: Exception | None = None
        try:
            yield
        except (ValueError, OSError) as error:
            problem = error
        told: list[str | None] = [None] * self.number
        own = None if problem is None else " ".join(str(problem).split())
        dist.all_gather_object(told, own)
        for text in told:
            if text is not None:
                raise ValueError(text) from problem

    def summed(self, values: Tensor) -> Tensor:
        """Return the sum over ranks, on the CPU."""
        if self.number == 1:
            return values
        total = values.to(self.device, copy=True)
        dist.all_reduce(total)
        return total.cpu()

    def summed_sketch(self, sketch: CalibrationSketch) -> CalibrationSketch:
        """Return the sketch of what all ranks counted; known cases are not passed on."""
        if self.number == 1:
            return sketch
        arrays = to_arrays(sketch)
        for name, array in arrays.items():
            if name not in _FORM:
                flat = torch.from_numpy(np.array(array).reshape(-1))
                arrays[name] = self.summed(flat).numpy().reshape(array.shape)
        return from_arrays(CalibrationSketch, arrays)


ALONE = Ranks()
