"""Attempts at points: what Optuna calls trials.

A point has one attempt at a time. An attempt that ends without a result, because its worker died,
was stopped or failed, is closed for good, and the next attempt at the same point waits for a
worker. Optuna guarantees in every storage that a waiting one is claimed by one worker only, and
that one of several who close an attempt succeeds. The rest is made so that doing it twice does no
harm: of attempts with the same point and count, the one with the lowest number counts.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from optuna import Study
    from optuna.trial import FrozenTrial

# Attributes of Optuna's trials.
POINT, COUNT, VALUES, BEFORE = "point", "attempt", "values", "minutes_before"
WORKER, BEAT, END, RESULT = "worker", "beat", "end", "result"

State = Literal["waiting", "running", "complete", "closed"]
_STATES: Mapping[str, State] = {
    "WAITING": "waiting",
    "RUNNING": "running",
    "COMPLETE": "complete",
    "FAIL": "closed",
    "PRUNED": "closed",
}


@dataclass(frozen=True)
class Attempt:
    """One attempt at a point.

    Attributes:
        number: Optuna's.
        index: of the point, from 0.
        count: attempts at this point before it.
        state: "waiting", "running", "complete" or "closed" without a result.
        dice: of a complete one.
        facts: its attributes.
    """

    number: int
    index: int
    count: int
    state: State
    dice: float | None
    facts: Mapping[str, Any]

    @property
    def values(self) -> Mapping[str, Any]:
        """The point."""
        return _part(self.facts, VALUES)

    @property
    def worker(self) -> Mapping[str, Any]:
        """Who claimed it; empty for nobody."""
        return _part(self.facts, WORKER)

    @property
    def beat(self) -> Mapping[str, Any]:
        """The last sign of life: number of beats, step, steps, first step, minutes."""
        return _part(self.facts, BEAT)

    @property
    def end(self) -> Mapping[str, Any]:
        """Why it was closed: kind, reason, and whether there shall be another one."""
        return _part(self.facts, END)

    @property
    def result(self) -> Mapping[str, Any]:
        """Of a complete one: run, minutes, step, scores."""
        return _part(self.facts, RESULT)

    @property
    def minutes(self) -> float:
        """Worked on this point until its last sign of life, by all attempts."""
        latest = self.result or self.end or self.beat
        return float(latest.get("minutes", self.facts.get(BEFORE, 0.0)))

    @property
    def began(self) -> int | None:
        """The step it went on from; None if it did not come that far."""
        found = self.end.get("began", self.beat.get("began"))
        return None if found is None else int(found)

    @property
    def death(self) -> str:
        """What is told of it when its worker has died."""
        name, step = self.worker.get("name", "unknown"), self.beat.get("step")
        return f"its worker {name} died" + ("" if step is None else f" after step {step}")


def read_attempts(study: "Study") -> list[Attempt]:
    """Return all attempts of a study by number; trials that are not ours are left out."""
    trials = study.get_trials(deepcopy=False)
    return [attempt_of(trial) for trial in trials if POINT in trial.user_attrs]


def attempt_of(trial: "FrozenTrial") -> Attempt:
    """Return Optuna's trial as an attempt."""
    facts = trial.user_attrs
    dice = trial.value if trial.values else None
    state = _STATES[trial.state.name]
    return Attempt(trial.number, int(facts[POINT]), int(facts.get(COUNT, 0)), state, dice, facts)


def by_point(attempts: Iterable[Attempt]) -> dict[int, list[Attempt]]:
    """Return index of the point -> its attempts in order, without duplicates."""
    first: dict[tuple[int, int], Attempt] = {}
    for attempt in sorted(attempts, key=lambda a: a.number):
        first.setdefault((attempt.index, attempt.count), attempt)
    found: dict[int, list[Attempt]] = {}
    for key in sorted(first):
        found.setdefault(key[0], []).append(first[key])
    return found


def without_progress(attempts: Iterable[Attempt]) -> int:
    """Return how many attempts failed or died in a row without bringing the run any further.

    An attempt that goes on from a later step than all before it shows progress; one that was
    stopped on purpose does not count. After a point was given up, and then asked for again, it is
    counted anew.

    >>> dead = {"end": {"kind": "dead"}}
    >>> began = {"end": {"kind": "dead", "began": 200}}
    >>> chain = [dead, dead, began, began]
    >>> without_progress([Attempt(i, 0, i, "closed", None, f) for i, f in enumerate(chain)])
    2
    """
    furthest, failed, given_up = 0, 0, False
    for attempt in attempts:
        failed = 0 if given_up else failed
        given_up = attempt.end.get("again") is False
        if attempt.began is not None and attempt.began > furthest:
            furthest, failed = attempt.began, 0
        if attempt.end.get("kind") in ("dead", "error"):
            failed += 1
    return failed


def goes_on(chain: Sequence[Attempt], end: Mapping[str, Any], tries: int) -> bool:
    """Tell whether there shall be another attempt after the last one ends like that.

    Args:
        chain: attempts at a point in order.
        end: of the last one.
        tries: attempts without progress after which a point has failed.
    """
    ended = replace(chain[-1], facts={**chain[-1].facts, END: end})
    return without_progress([*chain[:-1], ended]) < tries


def _part(facts: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = facts.get(name)
    return found if isinstance(found, Mapping) else {}
