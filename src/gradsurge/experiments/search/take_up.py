"""Trials wait for exactly one worker: claims, and what dead workers left."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradsurge.experiments.search.attempt import (
    WORKER,
    Attempt,
    by_point,
    goes_on,
    read_attempts,
)
from gradsurge.experiments.search.liveness import Silence
from gradsurge.experiments.search.presence import Worker, forget, whereabouts
from gradsurge.experiments.search.states import add_next, claim, close, note

if TYPE_CHECKING:
    from optuna import Study

# (index, point) -> whether a training is at work in its run folder.
Held = Callable[[int, Mapping[str, Any]], bool]


def claim_next(study: "Study", worker: Worker, held: Held) -> list[Attempt] | None:
    """Claim the first point that waits.

    Returns:
        Its attempts, this worker's last; None if none waits, or only those whose run folder
        somebody still works in.
    """
    attempts = read_attempts(study)
    chains = by_point(attempts)
    for attempt in sorted(attempts, key=lambda a: (a.index, a.number)):
        if attempt.state != "waiting":
            continue
        chain = chains[attempt.index]
        if chain[-1] is not attempt:  # two workers have added the same one
            if claim(study, attempt):
                close(study, attempt, {"kind": "duplicate", "again": False})
        elif not held(attempt.index, attempt.values) and claim(study, attempt):
            note(study, attempt, WORKER, worker.to_json())
            return chain
    return None


def retry_failed(study: "Study") -> list[int]:
    """Let points that were given up wait again: whoever asks has mended something.

    Returns:
        Their indices.
    """
    again = []
    for index, chain in by_point(read_attempts(study)).items():
        last = chain[-1]
        if last.state == "closed" and not last.end.get("again"):
            add_next(study, last)
            again.append(index)
    return again


class Undertaker:
    """Looks for dead workers, closes their attempts, and adds what was left undone.

    Several may do so at the same time. Of those who close an attempt one succeeds and adds the
    next; dying before, it leaves that to the others. Two next ones are possible then; the second
    is a duplicate, which nobody runs.

    Args:
        study: where.
        folder: of the search; workers of this machine are known there.
        held: tells whether a run folder is in use.
        grace: seconds of silence after which a worker is thought dead.
        tries: attempts without progress after which a trial has failed.
    """

    def __init__(
        self, study: "Study", folder: Path | None, held: Held, grace: float, tries: int
    ) -> None:
        self._study, self._folder, self._held = study, folder, held
        self._grace, self._tries = grace, tries
        self._silence = Silence()

    def look(self) -> int:
        """Take up what dead workers left; return how many may be dead or alive."""
        unsure = 0
        for chain in by_point(read_attempts(self._study)).values():
            last = chain[-1]
            if last.state == "closed" and last.end.get("again"):
                add_next(self._study, last)
            elif last.state == "running":
                unsure += not self._settle(chain)
        return unsure

    def _settle(self, chain: Sequence[Attempt]) -> bool:
        """Take the last attempt up if its worker is dead; False if that is not known yet."""
        last = chain[-1]
        where, silent = whereabouts(self._folder, last.worker), self._silence.seconds(last)
        if where == "here" or (where == "unknown" and silent <= self._grace):
            return where == "here" or self._silence.has_beaten(last)
        # Frozen, or cut off from the storage, a worker still holds the lock of its run.
        if self._held(last.index, last.values):
            return True
        if where == "gone":
            forget(self._folder, last.worker)
        end = self._end_of(chain)
        if close(self._study, last, end) and end["again"]:
            add_next(self._study, last)
        return True

    def _end_of(self, chain: Sequence[Attempt]) -> dict[str, Any]:
        last = chain[-1]
        end = {"kind": "dead", "reason": last.death, "minutes": last.minutes, "began": last.began}
        return {**end, "again": goes_on(chain, end, self._tries)}
