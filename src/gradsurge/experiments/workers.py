"""One function over many tasks: in this process, in several, or on a Dask cluster."""

import asyncio
import os
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from gradsurge.experiments.following import follow_parent
from gradsurge.experiments.threads import LIBRARIES_ASK

T = TypeVar("T")
R = TypeVar("R")
Results = Generator[R, None, None]

_ANSWER_SECONDS = 5.0  # for a scheduler to answer
_WORKER_SECONDS = 30.0  # for its first worker: clusters that grow by need start with none
# As many processes as cores, each with all cores, would only get in each other's way.
_ONE_THREAD = dict.fromkeys(LIBRARIES_ASK, "1")
_WAITING = 3  # tasks a worker in flight: keeps all busy, and bounds what waits in memory


class WorkerError(RuntimeError):
    """The workers, not the work, failed."""


def each_in_order(
    function: Callable[[T], R], tasks: Iterable[T], jobs: int = 1, dask: str | None = None
) -> Results[R]:
    """Yield ``function(task)`` in the order of the tasks, whoever finishes first.

    Whatever ends it early (an error, Ctrl-C, a reader that closes it) ends the processes at once;
    if this one is killed, they notice within a second.

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


def _in_processes(function: Callable[[T], R], tasks: Iterable[T], jobs: int) -> Results[R]:
    # loky starts clean interpreters (a fork would copy torch's locks) and needs no __main__ guard.
    from joblib.externals.loky import ProcessPoolExecutor

    pool = ProcessPoolExecutor(
        jobs, env=_ONE_THREAD, initializer=follow_parent, initargs=(os.getpid(),)
    )
    done = False
    try:
        yield from _windowed(lambda task: pool.submit(function, task), tasks, _WAITING * jobs)
        done = True
    except BrokenProcessPool as error:
        raise WorkerError(
            "a worker process died, as happens when memory runs out; try fewer with -j, or one"
        ) from error
    finally:
        pool.shutdown(kill_workers=not done)


def _on_cluster(function: Callable[[T], R], tasks: Iterable[T], address: str) -> Results[R]:
    try:
        from distributed import CancelledError, Client, KilledWorker
    except ImportError as error:
        raise WorkerError("a Dask cluster needs: pip install gradsurge[dask]") from error
    _ask_for_answer(address)
    with Client(address, timeout=_ANSWER_SECONDS, set_as_default=False) as client:
        try:
            client.wait_for_workers(1, timeout=_WORKER_SECONDS)
        except TimeoutError as error:
            raise WorkerError(
                f"the Dask scheduler at {address} has no workers; start one with: "
                f"dask worker {address}"
            ) from error
        window = _WAITING * sum(client.ncores().values())
        try:
            yield from _windowed(
                lambda task: client.submit(function, task, pure=False), tasks, window
            )
        except KilledWorker as error:
            raise WorkerError(
                "Dask workers died on a case again and again, as happens when memory runs out; "
                "give them more memory or fewer threads each"
            ) from error
        except CancelledError as error:
            raise WorkerError(f"the Dask scheduler at {address} went away") from error


def _ask_for_answer(address: str) -> None:
    """Raise unless a scheduler answers; a `Client` would hang and print when there is none."""
    from distributed import rpc

    async def ask() -> None:
        async with rpc(address, timeout=_ANSWER_SECONDS) as scheduler:
            await asyncio.wait_for(scheduler.identity(), _ANSWER_SECONDS + 1)

    try:
        with ThreadPoolExecutor(1) as thread:  # a notebook has a loop running in this one
            thread.submit(lambda: asyncio.run(ask())).result()
    except (OSError, ValueError) as error:
        reason = str(error) or "something else does"
        raise WorkerError(f"no Dask scheduler answers at {address}: {reason}") from error


def _windowed(submit: Callable[[T], Any], tasks: Iterable[T], window: int) -> Results[R]:
    waiting: deque[Any] = deque()
    for task in tasks:
        waiting.append(submit(task))
        if len(waiting) >= window:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
