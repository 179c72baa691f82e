"""A whole run: store, patches, model, loss, loop, validation, and the ending."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch import nn

from gradsurge.data.case_error import shown
from gradsurge.data.patches import PatchSource, stream_batches
from gradsurge.data.store import Store
from gradsurge.experiments.runs.config import RunConfig
from gradsurge.experiments.runs.early_look import EarlyLook
from gradsurge.experiments.runs.ending import FinalValidation
from gradsurge.experiments.runs.ending_files import write_ending
from gradsurge.experiments.runs.outcome import Outcome, read_outcome
from gradsurge.experiments.runs.over_ranks import Ranks
from gradsurge.experiments.runs.planning import foreground_shares
from gradsurge.experiments.runs.run_folder import OUTCOME, only_trainer, open_folder, refuse_taken
from gradsurge.experiments.runs.run_loss import make_run_loss
from gradsurge.experiments.runs.surgery_validation import AllDice, counted_from_full_surgery
from gradsurge.experiments.runs.trained_run import model_of
from gradsurge.experiments.runs.validation import Validation, validation_names
from gradsurge.experiments.runs.whole_cases import WholeCases
from gradsurge.models import make_model
from gradsurge.training import Observer, TrainJob, make_fabric, read_checkpoint, train

if TYPE_CHECKING:
    from lightning_fabric import Fabric

BEST, LAST = "best.pt", "last.pt"


@dataclass(frozen=True)
class RunResult:
    """What became of a run.

    Attributes:
        folder: of the run.
        config: what it was trained with.
        state: "finished" now, "complete" before, or "interrupted" with everything saved.
        step: steps done.
        minutes: of this call.
        outcome: of a finished run.
        leader: whether this process is the one to speak for all ranks.
    """

    folder: Path
    config: RunConfig
    state: Literal["finished", "complete", "interrupted"]
    step: int
    minutes: float
    outcome: Outcome | None
    leader: bool = True


def train_run(
    config: RunConfig,
    out: Path,
    *,
    resume: bool = False,
    device: str = "auto",
    workers: int = 0,
    observers: Sequence[Observer] = (),
    on_look: Callable[[EarlyLook], object] | None = None,
    on_stage: Callable[[str], None] = lambda _: None,
) -> RunResult:
    """Train, validate, and measure the best weights at the end.

    Args:
        config: from `plan_run`.
        out: folder of the run.
        resume: go on with the run that is there.
        device: "auto", "cpu", "cuda", "cuda:1", "mps".
        workers: processes that make patches, on each rank.
        observers: told what happens, on rank 0.
        on_look: gets a look at a case at every validation, on rank 0.
        on_stage: told what is being done beside training, on rank 0.

    Raises:
        ValueError: the folder or the settings do not allow it.
        TrainingError: the data, the validation or the disk failed.
    """
    began = time.monotonic()
    refuse_taken(out, resume=resume)  # before seconds are spent on starting
    fabric = make_fabric(device, config.training.precision)
    ranks = Ranks(fabric.global_rank, fabric.world_size, fabric.device)
    if config.patches.batch < ranks.number:
        raise ValueError(
            f"batch: {config.patches.batch} patches cannot be divided among {ranks.number} "
            f"processes; raise --batch"
        )
    config, done = _enter(fabric, out, config, resume)
    steps = config.training.steps
    if done is not None:
        return RunResult(out, config, "complete", steps, 0.0, done, fabric.is_global_zero)
    with only_trainer(out) if fabric.is_global_zero else nullcontext():
        run = _Run(config, out, ranks, workers, on_look if fabric.is_global_zero else None)
        end = train(run.job(observers), fabric)
        outcome = None
        if end.reason == "finished":
            if fabric.is_global_zero:
                on_stage("measuring the best weights on all validation cases")
            outcome = run.finish()
        fabric.barrier()
    minutes = (time.monotonic() - began) / 60
    state: Literal["finished", "interrupted"] = "interrupted" if outcome is None else "finished"
    return RunResult(out, config, state, end.step, minutes, outcome, fabric.is_global_zero)


def _enter(
    fabric: "Fabric", out: Path, config: RunConfig, resume: bool
) -> tuple[RunConfig, Outcome | None]:
    """Open the folder on rank 0; return its configuration and its outcome, if it is complete.

    Raises:
        ValueError: on all ranks, if the folder does not allow it.
    """
    problem: str | None = None
    if fabric.is_global_zero:
        try:
            config = open_folder(out, config, resume=resume)
        except ValueError as error:
            problem = str(error)
    problem = fabric.broadcast(problem)
    if problem is not None:
        raise ValueError(problem)
    complete = (out / OUTCOME).exists() and (out / BEST).exists()
    complete = bool(fabric.broadcast(complete))
    return config, read_outcome(out / OUTCOME) if complete else None


class _Run:
    """The parts of a run, tied together."""

    def __init__(
        self,
        config: RunConfig,
        out: Path,
        ranks: Ranks,
        workers: int,
        on_look: Callable[[EarlyLook], object] | None,
    ) -> None:
        self.config, self.out, self.ranks, self.workers = config, out, ranks, workers
        self.store, self.task = Store.open(config.store), config.task
        self.cases = WholeCases(self.store, tuple(config.patches.size), ranks.device)
        self.on_look = on_look
        torch.manual_seed(config.training.seed)
        self.model: nn.Module = make_model(config.model)
        if config.init is not None and not (out / LAST).exists():
            self.model.load_state_dict(_weights_of(config.init))
        self.loss = make_run_loss(config, getattr(self.model, "levels", 1))

    def job(self, observers: Sequence[Observer]) -> TrainJob:
        """Return the training of this rank."""
        config = self.config
        shares = foreground_shares(self.store, config.dataset)
        names = validation_names(shares, config.validation_cases)
        validation = Validation(self.task, self.cases, names, self.ranks, self.on_look)
        steps = config.training.steps
        return TrainJob(
            model=self.model,
            loss=self.loss,
            batches=self._batches,
            settings=config.training,
            folder=self.out,
            config=config.to_json(),
            validate=counted_from_full_surgery(validation, config.surgery, steps),
            before_step=None if config.surgery.from_the_start else self._set_blend,
            observers=[AllDice(observer) for observer in observers],
        )

    def finish(self) -> Outcome:
        """Measure the best weights on all validation cases, and write what was found."""
        best = read_checkpoint(self.out / BEST)
        model = model_of(self.config, best).to(self.ranks.device)
        loss = make_run_loss(self.config, getattr(model, "levels", 1))
        loss.load_state_dict(best.loss)
        names = validation_names(foreground_shares(self.store, self.config.dataset), None)
        measured = FinalValidation(self.task, self.cases, names, self.ranks)
        ending = measured.run(model, loss, best.step, self.config.training.steps)
        if self.ranks.rank == 0:
            write_ending(self.out, ending)
        return ending.outcome

    def _batches(self, first: int) -> Iterator[Mapping[str, Any]]:
        settings = self.config.training
        source = PatchSource(
            self.store,
            self.config.dataset.splits["train"],
            self.config.patches,
            self.config.augmentation,
        )
        stream = stream_batches(
            source,
            settings.seed,
            first,
            settings.steps * settings.accumulate,
            workers=self.workers,
            part=(self.ranks.rank, self.ranks.number),
            pin_memory=self.ranks.device.type == "cuda",
        )
        for batch in stream:
            yield {
                "image": batch["image"],
                "label": self.task.target(batch["label"]),
                "case": batch["case"],
            }

    def _set_blend(self, step: int) -> None:
        self.loss.blend = self.config.surgery.blend(step, self.config.training.steps)  # type: ignore[assignment]


def _weights_of(run: str) -> Mapping[str, Any]:
    """Return the best weights of a run to start from.

    Raises:
        ValueError: there are none.
    """
    try:
        return read_checkpoint(Path(run) / BEST).weights
    except FileNotFoundError as error:
        raise ValueError(
            f"init: {shown(Path(run))} has no {BEST}; is its training over?"
        ) from error
