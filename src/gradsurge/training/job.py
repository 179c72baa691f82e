"""What a training is given, whom it tells, and how it ends."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from torch import nn

from gradsurge.training.settings import TrainSettings

LAST, BEST, NONFINITE = "last.pt", "best.pt", "nonfinite.pt"


@dataclass(frozen=True)
class Best:
    """The best validation so far: its Dice and its step; of equal ones, the earlier."""

    dice: float
    step: int


@dataclass(frozen=True)
class TrainStart:
    """Where a training sets in.

    Attributes:
        settings: of the training.
        folder: of its files.
        step: steps done, 0 unless it resumes.
        validated: the last step that was validated; -1 for none.
        best: validation so far.
    """

    settings: TrainSettings
    folder: Path
    step: int
    validated: int
    best: Best | None


@dataclass(frozen=True)
class StepFacts:
    """One step.

    Attributes:
        step: steps done, this one included.
        loss: mean over ranks and accumulated batches.
        learning_rate: in this step.
        grad_norm: length of the gradient before clipping.
        seconds: of the step.
        waiting: seconds of these spent waiting for data.
    """

    step: int
    loss: float
    learning_rate: float
    grad_norm: float
    seconds: float
    waiting: float


@dataclass(frozen=True)
class TrainEnd:
    """How a training ended.

    Attributes:
        step: steps done.
        reason: "finished"; "interrupted" by a signal, with the state saved; observers may also see
            "failed", where `train` raises.
        best: validation of all.
    """

    step: int
    reason: Literal["finished", "interrupted", "failed"]
    best: Best | None


class Observer:
    """Is told what happens, on rank 0; derive from it and write the methods that matter."""

    def started(self, start: TrainStart) -> None:
        """The first step, or the first after an interruption, is about to begin."""

    def step(self, facts: StepFacts) -> None:
        """A step is done."""

    def saving(self, step: int) -> None:
        """A checkpoint is about to be written: what was told so far will not be told again."""

    def validated(self, step: int, scores: Mapping[str, float], best: bool) -> None:
        """The model was validated after a step; ``best`` tells whether it is the best so far."""

    def stopped(self, end: TrainEnd) -> None:
        """Nothing follows, whatever the reason."""


@dataclass
class TrainJob:
    """What to train, on what, and where to keep it.

    Attributes:
        model: images (N, C, *P) -> logits (N, K, *P), or a list of them, as the loss wants it.
        loss: (logits, label), and mask=... where batches have a "mask". Its state is kept, too.
        batches: number of the first batch -> batches of this rank, with "image", "label", "case"
            and perhaps "mask". A batch must depend on its number alone. Step s takes the batches
            from s · accumulate on. All ranks' parts are of one size, or means are not means.
        settings: of the training.
        folder: for last.pt, best.pt and what observers write; shared by all nodes.
        config: plain values kept in every checkpoint, enough to make the model again.
        validate: (model in eval mode, step) -> scores, on all ranks, the same on all. The model has
            the averaged weights if there are any. "dice" decides which is best.
        before_step: called with the number of steps done, for what follows a schedule.
        average_from: first step, from 0, whose weights the moving average keeps; before it, the
            average is the weights themselves.
        observers: told on rank 0.
    """

    model: nn.Module
    loss: nn.Module
    batches: Callable[[int], Iterator[Mapping[str, Any]]]
    settings: TrainSettings
    folder: Path
    config: Mapping[str, Any]
    validate: Callable[[nn.Module, int], Mapping[str, float]] | None = None
    before_step: Callable[[int], None] | None = None
    average_from: int = 0
    observers: Sequence[Observer] = ()
