"""Batches in order, made ahead by worker processes."""

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch.utils.data import DataLoader, Dataset

from gradsurge.data.case_error import CaseError
from gradsurge.data.patches.source import PatchBatch, PatchSource
from gradsurge.data.patches.worker import set_up_worker


def stream_batches(
    source: PatchSource,
    seed: int,
    start_step: int = 0,
    stop_step: int | None = None,
    *,
    workers: int = 0,
    part: tuple[int, int] = (0, 1),
    pin_memory: bool = False,
) -> Iterator[PatchBatch]:
    """Yield the batches of steps start_step, start_step + 1, ...

    They depend on the seed and the step alone: the number of workers changes nothing, and a stream
    that starts later yields what the first one would have. The workers end with the iterator: when
    it is exhausted, closed or forgotten, or when the process dies; Ctrl-C is left to the caller.

    Args:
        source: makes the batches.
        seed: of the stream, 0 or above.
        start_step: the first step.
        stop_step: the step after the last; None for no end.
        workers: processes; 0 makes each batch here when it is asked for.
        part: (i, n) yields the i-th of n parts of each batch; see `PatchSource.batch`.
        pin_memory: put tensors where a GPU copies them from.

    Raises:
        ValueError: an argument is out of range.
        CaseError: a case is damaged; in one line, also if it happened in a worker.
    """
    _check(source, seed, start_step, stop_step, workers, part)
    steps = itertools.count(start_step) if stop_step is None else range(start_step, stop_step)
    return _stream(_Batches(source, seed, part), steps, workers, pin_memory)


class _Batches(Dataset[PatchBatch | CaseError]):
    """Step -> batch. An error is returned, not raised: DataLoader would add its own traceback."""

    def __init__(self, source: PatchSource, seed: int, part: tuple[int, int]) -> None:
        self.source, self.seed, self.part = source, seed, part

    def __getitem__(self, step: int) -> PatchBatch | CaseError:
        try:
            return self.source.batch(self.seed, step, self.part)
        except CaseError as error:
            return CaseError(str(error))


def _stream(
    batches: _Batches, steps: Iterable[int], workers: int, pin_memory: bool
) -> Iterator[PatchBatch]:
    loader = DataLoader(
        batches,
        batch_size=None,
        sampler=steps,
        num_workers=workers,
        collate_fn=_as_it_is,
        worker_init_fn=set_up_worker,
        pin_memory=pin_memory,
        # Else the loader draws from torch's global generator, and the stream would not be alone in
        # depending on nothing: the training around it would depend on the stream.
        generator=torch.Generator(),
    )
    for batch in loader:
        if isinstance(batch, CaseError):
            raise batch
        yield batch


def _as_it_is(batch: Any) -> Any:
    return batch


def _check(
    source: PatchSource,
    seed: int,
    start_step: int,
    stop_step: int | None,
    workers: int,
    part: tuple[int, int],
) -> None:
    for name, value in (("seed", seed), ("start_step", start_step), ("workers", workers)):
        if not _is_count(value):
            raise ValueError(f"{name}: expected a whole number of 0 or above, got {value!r}")
    if stop_step is not None and not (_is_count(stop_step) and stop_step >= start_step):
        raise ValueError(
            f"stop_step: expected {start_step} (start_step) or above, got {stop_step!r}"
        )
    source.check_part(part)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
