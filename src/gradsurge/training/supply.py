"""The batches of a step, and how long they kept the step waiting."""

import time
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

from gradsurge.training.child_deaths import ChildDeaths
from gradsurge.training.job import TrainJob

if TYPE_CHECKING:
    from lightning_fabric import Fabric

Batch = Mapping[str, Any]

# Of a damaged case, of a lost file, and of a worker that the system killed.
_LOST = (ValueError, OSError, RuntimeError)


class Supply:
    """Takes batches from a job, all of a step at once.

    A step needs them all before the first is used: an error half-way would leave half a step done.

    Args:
        job: whose batches.
        fabric: whose device they go to.
        step: number of steps done.

    Attributes:
        problem: why there are no more, in one line; None while there are.
        waiting: seconds until the last step's batches were there.
    """

    def __init__(self, job: TrainJob, fabric: "Fabric", step: int) -> None:
        self._job, self._fabric, self._step = job, fabric, step
        self._stream: Iterator[Batch] | None = None
        self._deaths = ChildDeaths()
        self.problem: str | None = None
        self.waiting = 0.0

    def take(self) -> list[Batch]:
        """Return the batches of the next step on the device; empty, with a problem, if it fails."""
        began = time.perf_counter()
        count = self._job.settings.accumulate
        try:
            with self._deaths.told():
                if self._stream is None:
                    self._stream = iter(self._job.batches(self._step * count))
                batches = [next(self._stream) for _ in range(count)]
        except _LOST as error:
            self.problem = f"no data for step {self._step + 1}: {_one_line(error)}"
            return []
        except StopIteration:
            self.problem = f"the batches ended before step {self._step + 1}"
            return []
        self.waiting = time.perf_counter() - began
        self._step += 1
        return [self._on_device(batch) for batch in batches]

    def _on_device(self, batch: Batch) -> Batch:
        tensors = (name for name in ("image", "label", "mask") if name in batch)
        return {**batch, **{name: self._fabric.to_device(batch[name]) for name in tensors}}

    def __enter__(self) -> "Supply":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        close = getattr(self._stream, "close", None)
        try:
            if close is not None:
                close()
        finally:
            self._deaths.release()


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
