"""What becomes of the cases to prepare: by whom they are done, and the list of those that fail."""

import time
from collections.abc import Callable, Generator, Sequence
from pathlib import Path

from gradsurge.data.datasets import RawCase
from gradsurge.data.store import replace_json
from gradsurge.experiments.prepare_case import Outcome
from gradsurge.experiments.workers import each_in_order

FAILURES = "failures.json"
_START = 3.0  # seconds until the first worker has imported what it needs
_TRIED = 2  # cases prepared here first, to see how long one takes


def outcomes(
    work: Callable[[RawCase], Outcome], todo: Sequence[RawCase], jobs: int, dask: str | None
) -> Generator[Outcome, None, None]:
    """Yield the outcome of each case, by as many processes as pay.

    Starting processes takes seconds, in which this one prepares a hundred small cases. So the
    first two are done here, and others are started if what is left takes longer than that.

    Args:
        work: prepares a case.
        todo: the cases.
        jobs: processes at most; 0 for one a core.
        dask: address of a Dask scheduler, which then does all the work.
    """
    if dask is None and jobs != 1:
        seconds = []
        for case in todo[:_TRIED]:
            start = time.monotonic()
            yield work(case)
            seconds.append(time.monotonic() - start)
        todo = todo[_TRIED:]
        if not todo or min(seconds) * len(todo) < _START:
            jobs = 1
    yield from each_in_order(work, todo, jobs, dask)


def list_failures(out: Path, failures: Sequence[tuple[str, str]]) -> None:
    """Write (case, problem) into ``failures.json`` of a store; remove it if there are none."""
    if not failures:
        (out / FAILURES).unlink(missing_ok=True)
        return
    out.mkdir(parents=True, exist_ok=True)
    replace_json(out / FAILURES, [{"case": case, "problem": said} for case, said in failures])
