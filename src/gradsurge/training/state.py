"""Everything that changes while a training runs, and how it comes from and goes to a checkpoint."""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import torch

from gradsurge.training.average import Average
from gradsurge.training.checkpoint import Checkpoint
from gradsurge.training.compiling import compiled
from gradsurge.training.job import Best, TrainJob, TrainStart
from gradsurge.training.optimiser import make_optimiser

if TYPE_CHECKING:
    from lightning_fabric import Fabric

# Settings that may differ when a training goes on: they change no bit of what is learnt.
FREE = ("checkpoint_every",)


class TrainState:
    """A model while it learns.

    Args:
        job: what to train; its model and loss are changed in place.
        fabric: what to train it on.

    Raises:
        NoCompilerError: the model is to be compiled, and cannot be here.

    Attributes:
        model: as Fabric wraps it, for steps; ``job.model`` is the same without the wrapping.
        optimiser: as Fabric wraps it.
        average: of the weights; None if not asked for.
        step: steps done.
        validated: the last step that was validated; -1 for none.
        best: validation so far.
    """

    def __init__(self, job: TrainJob, fabric: "Fabric") -> None:
        self.job, self.fabric, self.settings = job, fabric, job.settings
        model = compiled(job.model, fabric.device) if job.settings.compile else job.model
        self.model, self.optimiser = fabric.setup(model, make_optimiser(job.model, job.settings))
        job.loss.to(fabric.device)
        job.model.train()
        job.loss.train()
        decay = job.settings.ema
        self.average = None if decay is None else Average(job.model, decay)
        self.step, self.validated = 0, -1
        self.best: Best | None = None

    def start(self) -> TrainStart:
        """Return where the training sets in."""
        return TrainStart(self.settings, self.job.folder, self.step, self.validated, self.best)

    def is_due(self, every: int) -> bool:
        """Tell whether what is done every so many steps, and at the end, is to be done now."""
        return self.step > 0 and (self.step % every == 0 or self.step == self.settings.steps)

    def validation_is_due(self) -> bool:
        """Tell whether the model is to be validated before the next step."""
        wanted = self.job.validate is not None and self.is_due(self.settings.validate_every)
        return wanted and self.validated != self.step

    @contextmanager
    def ready_to_predict(self) -> Iterator[None]:
        """Put the model in eval mode, with averaged weights if there are any, for a while."""
        self.job.model.eval()
        try:
            with torch.no_grad(), self.fabric.autocast():
                if self.average is None:
                    yield
                else:
                    with self.average.in_place_of(self.job.model):
                        yield
        finally:
            self.job.model.train()

    def note(self, scores: Mapping[str, float]) -> bool:
        """Remember a validation, and return whether it is the best so far.

        Raises:
            ValueError: there is no "dice" among the scores.
        """
        if "dice" not in scores:
            raise ValueError(f"validate: expected scores with 'dice', got {sorted(scores)}")
        self.validated, dice = self.step, float(scores["dice"])
        better = not math.isnan(dice) and (self.best is None or dice > self.best.dice)
        if better:
            self.best = Best(dice, self.step)
        return better

    def to_checkpoint(self, notes: Mapping[str, Any]) -> Checkpoint:
        """Return the state of now; its tensors are not copied."""
        return Checkpoint(
            config=self.job.config,
            settings=self.settings.to_json(),
            step=self.step,
            validated=self.validated,
            best=None if self.best is None else asdict(self.best),
            model=self.job.model.state_dict(),
            ema=None if self.average is None else self.average.state,
            loss=self.job.loss.state_dict(),
            optimiser=self.optimiser.state_dict(),
            scaler=self.fabric.strategy.precision.state_dict(),
            notes=notes,
        )

    def restore(self, kept: Checkpoint) -> None:
        """Go on from a checkpoint.

        Raises:
            ValueError: it is of other settings, or of another model.
        """
        for name, now in self.settings.to_json().items():
            if name not in FREE and kept.settings.get(name) != now:
                raise ValueError(
                    f"{name}: the run was started with {kept.settings.get(name)!r}, got {now!r}; "
                    f"use the same to go on, or another folder for a new run"
                )
        try:
            self.job.model.load_state_dict(kept.model)
            self.job.loss.load_state_dict(kept.loss)
        except RuntimeError as error:
            reason = " ".join(str(error).split())[:200]
            raise ValueError(f"the run's weights are of another model or loss: {reason}") from error
        if self.average is not None and kept.ema is not None:
            self.average.load(kept.ema)
        self.optimiser.load_state_dict(kept.optimiser)
        self.fabric.strategy.precision.load_state_dict(dict(kept.scaler))
        self.step, self.validated = kept.step, kept.validated
        self.best = None if kept.best is None else Best(**kept.best)
