"""One function over many tasks: in this process, in several, or on a Dask cluster."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_WAITING = 3  # tasks a worker in flight: keeps all busy, and bounds what waits in memory


class WorkerError(RuntimeError):
    """The workers, not the work, failed."""


def each_in_order(
    function: Callable[[T], R], tasks: Iterable[T], jobs: int = 1, dask: str | None = None
) -> Iterator[R]:
    """Yield ``function(task)`` in the order of the tasks, whoever finishes first.

    Args:
        function: importable by name, or a `functools.partial` of such a one.
        tasks: read as the work goes on.
        jobs: processes on this machine; 0 for one a core.
        dask: address of a Dask scheduler, which then does the work; its workers must see the same
            files and have the same gradsurge.

    Raises:
        WorkerError: a process died, or the cluster does not answer.
    """
    jobs = jobs or os.cpu_count() or 1
    if dask is not None:
        yield from _on_cluster(function, tasks, dask)
    elif jobs == 1:
        yield from map(function, tasks)
    else:
        yield from _in_processes(function, tasks, jobs)


def _in_processes(function: Callable[[T], R], tasks: Iterable[T], jobs: int) -> Iterator[R]:
    # loky starts clean interpreters (a fork would copy torch's locks) and needs no __main__ guard.
    from joblib.externals.loky import ProcessPoolExecutor

    try:
        with ProcessPoolExecutor(jobs, initializer=_single_thread) as pool:
            yield from _windowed(lambda task: pool.submit(function, task), tasks, _WAITING * jobs)
    except BrokenProcessPool as error:
        raise WorkerError(
            "a worker process died, as happens when memory runs out; try fewer with -j"
        ) from error


def _single_thread() -> None:
    """As many processes as cores, each with all cores, would only get in each other's way."""
    import torch

    torch.set_num_threads(1)


def _on_cluster(function: Callable[[T], R], tasks: Iterable[T], address: str) -> Iterator[R]:
    try:
        from distributed import Client
        from distributed.scheduler import KilledWorker
    except ImportError as error:
        raise WorkerError("a Dask cluster needs: pip install gradsurge[dask]") from error
    try:
        client = Client(address, timeout="10s", set_as_default=False)
    except (OSError, ValueError) as error:
        raise WorkerError(f"no Dask scheduler answers at {address}: {error}") from error
    with client:
        cores = sum(client.ncores().values())
        if not cores:
            raise WorkerError(f"the Dask scheduler at {address} has no workers")
        try:
            yield from _windowed(
                lambda task: client.submit(function, task, pure=False), tasks, _WAITING * cores
            )
        except KilledWorker as error:
            raise WorkerError(f"the cluster gave up on a task: {error}") from error


def _windowed(submit: Callable[[T], Any], tasks: Iterable[T], window: int) -> Iterator[R]:
    waiting: deque[Any] = deque()
    for task in tasks:
        waiting.append(submit(task))
        if len(waiting) >= window:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
