"""Curves for TensorBoard."""

from collections.abc import Mapping
from typing import Any

from gradsurge.training.job import Observer, StepFacts, TrainEnd, TrainStart


class TensorBoard(Observer):
    """Writes event files into ``tensorboard/`` in the folder of the training.

    A training that resumes tells TensorBoard to forget the steps after its checkpoint.

    Args:
        every: steps between points of the curves.
    """

    def __init__(self, every: int = 10) -> None:
        if every < 1:
            raise ValueError(f"every: expected a whole number of 1 or above, got {every!r}")
        self.every = every
        self._writer: Any = None

    def started(self, start: TrainStart) -> None:
        from tensorboardX import SummaryWriter

        folder = start.folder / "tensorboard"
        self._writer = SummaryWriter(str(folder), purge_step=start.step + 1)

    def step(self, facts: StepFacts) -> None:
        if self._writer is not None and facts.step % self.every == 0:
            share = facts.waiting / facts.seconds if facts.seconds else 0.0
            for name, value in (
                ("train/loss", facts.loss),
                ("train/learning_rate", facts.learning_rate),
                ("train/grad_norm", facts.grad_norm),
                ("speed/seconds", facts.seconds),
                ("speed/data_share", share),
            ):
                self._writer.add_scalar(name, value, facts.step)

    def validated(self, step: int, scores: Mapping[str, float], best: bool) -> None:
        if self._writer is None:  # it could not start, and its error is the one to be told
            return
        for name, value in scores.items():
            self._writer.add_scalar(f"validation/{name}", value, step)

    def saving(self, step: int) -> None:
        if self._writer is not None:
            self._writer.flush()

    def stopped(self, end: TrainEnd) -> None:
        if self._writer is not None:
            self._writer.close()
