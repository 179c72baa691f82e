"""What a worker is given: how to train a point, how to behave, and whom to tell."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gradsurge.experiments.search.search_trial import SearchTrial
from gradsurge.training import NoCompilerError


@dataclass(frozen=True)
class TrialOutcome:
    """A trial that was trained to its end.

    Attributes:
        dice: on the validation cases: what trials are chosen by.
        run: folder of the run, relative to that of the search.
        step: of the best weights.
        scores: what else was measured, plain values.
    """

    dice: float
    run: str
    step: int
    scores: Mapping[str, Any] = field(default_factory=dict)


class TrialInterrupted(Exception):
    """A signal stopped the training; everything is saved, and the trial can go on from there."""


class NothingToTrainOn(ValueError):
    """What every point needs is gone, as with a disk that was taken away."""


NOT_HERE = (NothingToTrainOn, NoCompilerError)
"""Why nothing can be trained here, whatever the point: none of them is to blame or used up."""


# Trains the point of that index; called again with the same, it goes on where it was.
Train = Callable[[int, Mapping[str, Any]], TrialOutcome]


@dataclass(frozen=True)
class WorkerSettings:
    """How a worker behaves.

    Attributes:
        beat: seconds between signs of life.
        grace: seconds without one after which a worker on another machine is thought dead.
        tries: attempts that fail or die, without bringing the run further, until a trial failed.
        stay: wait for trials of others, to take them up should their worker die; else leave when
            nothing waits and all others were seen to be alive.
        poll: seconds between looks at the study while waiting.
    """

    beat: float = 15.0
    grace: float = 120.0
    tries: int = 3
    stay: bool = True
    poll: float = 1.0

    def __post_init__(self) -> None:
        if not (self.beat > 0 and self.poll > 0 and self.tries >= 1):
            raise ValueError(
                f"worker: expected beat and poll above 0, and tries of 1 or more, got {self}"
            )
        if not self.grace >= 3 * self.beat:  # NaN, too
            raise ValueError(
                f"grace: expected at least three beats of {self.beat:g} seconds, got "
                f"{self.grace:g}; else a slow answer is taken for a death"
            )


class WorkerWatcher:
    """Is told what happens; derive from it and write the methods that matter."""

    def claimed(self, trial: SearchTrial) -> None:
        """The worker begins a trial, or goes on with it."""

    def finished(self, trial: SearchTrial) -> None:
        """It has trained a trial to its end."""

    def failed(self, trial: SearchTrial) -> None:
        """A trial ended without a result; its state tells whether it is tried again."""

    def idle(self, trials: Sequence[SearchTrial]) -> None:
        """Nothing waits, but others are at work; told when that begins."""
