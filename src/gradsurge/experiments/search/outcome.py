"""What comes of a trial."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


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


# Trains the point of that index; called again with the same, it goes on where it was.
Train = Callable[[int, Mapping[str, Any]], TrialOutcome]
