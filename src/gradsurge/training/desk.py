"""What rank 0 does for all: it tells the observers and writes the checkpoints."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from gradsurge.training.checkpoint import write_checkpoint
from gradsurge.training.job import LAST, Observer, StepFacts, TrainEnd
from gradsurge.training.state import TrainState


class Desk:
    """Tells and writes, on rank 0.

    An error of the disk waits in ``problem`` until all ranks look at it, at the next step.

    Args:
        state: what is written.

    Attributes:
        problem: why something could not be written, in one line.
        reason: why the training stopped, as observers are told at the end.
    """

    def __init__(self, state: TrainState) -> None:
        self._state = state
        self._observers = tuple(state.job.observers) if state.fabric.is_global_zero else ()
        self._saved: dict[str, tuple[int, int]] = {}
        self.problem: str | None = None
        self.reason: Literal["finished", "interrupted", "failed"] = "failed"

    def started(self) -> None:
        """Tell that the first step begins."""
        start = self._state.start()
        if start.step > 0:
            self._saved[LAST] = (start.step, start.validated)
        self._tell(lambda observer: observer.started(start))

    def step(self, facts: StepFacts) -> None:
        """Tell of a step."""
        self._tell(lambda observer: observer.step(facts))

    def validated(self, scores: Mapping[str, float], best: bool) -> None:
        """Tell of a validation."""
        step = self._state.step
        self._tell(lambda observer: observer.validated(step, scores, best))

    def save(self, name: str, notes: Mapping[str, Any] | None = None) -> None:
        """Write a checkpoint, unless it was written in this very state."""
        now = (self._state.step, self._state.validated)
        if self._state.fabric.is_global_zero and self._saved.get(name) != now:
            self._try(lambda: self._write(self._state.job.folder / name, notes or {}))

    def _write(self, file: Path, notes: Mapping[str, Any]) -> None:
        for observer in self._observers:
            observer.saving(self._state.step)
        write_checkpoint(file, self._state.to_checkpoint(notes))
        self._saved[file.name] = (self._state.step, self._state.validated)

    def kept(self) -> str:
        """Return what is left to go on from, in a few words."""
        if LAST not in self._saved:
            return "no step was saved yet"
        step, _ = self._saved[LAST]
        return f"{self._state.job.folder / LAST} holds step {step}: resume goes on from there"

    def end(self) -> TrainEnd:
        """Return how the training ended."""
        return TrainEnd(self._state.step, self.reason, self._state.best)

    def _tell(self, tell: Callable[[Observer], None]) -> None:
        for observer in self._observers:
            self._try(lambda told=observer: tell(told))  # type: ignore[misc]

    def _try(self, act: Callable[[], None]) -> None:
        try:
            act()
        except OSError as error:
            where = error.filename or self._state.job.folder
            self.problem = self.problem or f"{where}: {error.strerror or error}"

    def __enter__(self) -> "Desk":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self.reason = "failed"
        self._tell(lambda observer: observer.stopped(self.end()))
