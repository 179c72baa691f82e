"""Trials of a search as a user sees them, and the best of them."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from gradsurge.experiments.search.attempt import Attempt, by_point, read_attempts
from gradsurge.experiments.search.presence import whereabouts

if TYPE_CHECKING:
    from optuna import Study


TrialState = Literal["waiting", "running", "done", "failed"]
_FINDS_SOMETHING = 0.01


@dataclass(frozen=True)
class SearchTrial:
    """What is known of a point.

    Attributes:
        index: of the point, from 0.
        point: the searched values.
        state: "waiting", "running", "done" or "failed" for good.
        attempts: workers that took it up.
        dice: on the validation cases, of a trial that is done.
        run: its folder, relative to that of the search.
        minutes: worked on it.
        step: steps done.
        steps: of the training.
        beats: signs of life of the worker at work.
        worker: its name.
        reason: why the last attempt ended without a result, in one line.
        scores: what else was measured on the validation cases.
    """

    index: int
    point: Mapping[str, Any]
    state: TrialState
    attempts: int = 1
    dice: float | None = None
    run: str | None = None
    minutes: float = 0.0
    step: int | None = None
    steps: int | None = None
    beats: int = 0
    worker: str | None = None
    reason: str | None = None
    scores: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {**asdict(self), "minutes": round(self.minutes, 3)}


def read_trials(study: "Study") -> list[SearchTrial]:
    """Return the trials of a study by index."""
    return [trial_of(chain) for chain in by_point(read_attempts(study)).values()]


def watch_trials(study: "Study", folder: Path | None) -> list[SearchTrial]:
    """Return the trials of a study; those of workers that died on this machine wait.

    They do for the next worker, who takes them up or, after too many tries, gives them up.

    Args:
        study: where.
        folder: of the search, in which all its workers of this machine were started; None if that
            is not known.
    """
    attempts = [chain[-1] for chain in by_point(read_attempts(study)).values()]
    running = [attempt for attempt in attempts if attempt.state == "running"]
    left = {a.number: a for a in running if whereabouts(folder, a.worker) == "gone"}
    # Read after that: a worker that came to its end in between has left a result.
    chains = by_point(read_attempts(study)).values()
    return [_seen_from_here(trial_of(chain), left.get(chain[-1].number)) for chain in chains]


def _seen_from_here(trial: SearchTrial, left: Attempt | None) -> SearchTrial:
    if trial.state != "running" or left is None:
        return trial
    return replace(trial, state="waiting", worker=None, reason=left.death)


def trial_of(chain: Sequence[Attempt]) -> SearchTrial:
    """Return what is known of a point.

    Args:
        chain: its attempts in order, from `by_point`.
    """
    last = next((attempt for attempt in chain if attempt.state == "complete"), chain[-1])
    state = state_of(last)
    reasons = [attempt.end.get("reason") for attempt in chain if attempt.end]
    facts = last.result or last.beat
    return SearchTrial(
        index=last.index,
        point=last.values,
        state=state,
        attempts=sum(bool(attempt.worker) for attempt in chain),
        dice=last.dice,
        run=last.result.get("run"),
        minutes=last.minutes,
        step=facts.get("step"),
        steps=last.beat.get("steps"),
        beats=int(last.beat.get("beats", 0)),
        worker=last.worker.get("name") if state == "running" else None,
        reason=None if state == "done" or not reasons else reasons[-1],
        scores=last.result.get("scores", {}),
    )


def state_of(last: Attempt) -> TrialState:
    """Return the state of a point by its last attempt."""
    if last.state == "complete":
        return "done"
    if last.state == "running":
        return "running"
    # Who closed it adds the next one, or, dying in between, leaves that to any other worker.
    return "failed" if last.state == "closed" and not last.end.get("again") else "waiting"


def select(trials: Iterable[SearchTrial], keep: int) -> list[SearchTrial]:
    """Return the best trials by validation Dice, the best first; of equal ones, the earlier.

    Networks that find nothing yet, as those of cross-entropy after few steps, have no Dice to tell
    them apart: of Dice scores below 0.01 the lower NLL is better.

    Args:
        trials: those that are not done are left out.
        keep: how many at most.

    >>> found = [SearchTrial(i, {}, "done", dice=dice) for i, dice in enumerate((0.7, 0.8, 0.8))]
    >>> [trial.index for trial in select(found, 2)]
    [1, 2]

    Raises:
        ValueError: ``keep`` is no number of trials.
    """
    if keep < 1:
        raise ValueError(f"keep: expected a whole number above 0, got {keep!r}")
    done = [(trial.dice, trial) for trial in trials if trial.dice is not None]
    done = [(dice, trial) for dice, trial in done if trial.state == "done"]
    done.sort(key=lambda pair: _rank(*pair))
    return [trial for _, trial in done[:keep]]


def _rank(dice: float, trial: SearchTrial) -> tuple[float, float, float, int]:
    if dice >= _FINDS_SOMETHING:
        return -dice, 0.0, 0.0, trial.index
    nll = trial.scores.get("nll")  # records of before have none
    return 0.0, math.inf if nll is None else nll, -dice, trial.index
