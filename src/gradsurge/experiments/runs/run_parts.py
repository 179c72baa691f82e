"""The parts of a run, tied together: what the loop is given, and what follows it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from gradsurge.data.case_error import shown
from gradsurge.data.patches import PatchSource, stream_batches
from gradsurge.data.store import Store
from gradsurge.experiments.runs.config import RunConfig
from gradsurge.experiments.runs.early_look import EarlyLook
from gradsurge.experiments.runs.ending import FinalValidation
from gradsurge.experiments.runs.ending_files import write_ending
from gradsurge.experiments.runs.outcome import Outcome
from gradsurge.experiments.runs.over_ranks import Ranks
from gradsurge.experiments.runs.planning import foreground_shares
from gradsurge.experiments.runs.run_loss import make_run_loss
from gradsurge.experiments.runs.surgery_validation import AllDice, counted_from_full_surgery
from gradsurge.experiments.runs.trained_run import model_of
from gradsurge.experiments.runs.validation import Validation, validation_names
from gradsurge.experiments.runs.whole_cases import WholeCases
from gradsurge.models import make_model
from gradsurge.training import Checkpoint, Observer, TrainJob, read_checkpoint

BEST, LAST = "best.pt", "last.pt"


class RunParts:
    """Store, model and loss of a run on one rank.

    Args:
        config: of the run.
        out: its folder.
        ranks: this process among all.
        workers: processes that make patches.
        on_look: gets a look at a case at every validation.

    Raises:
        ValueError: the store, or the run to start from, is not there.
    """

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
            average_from=config.surgery.first_full_step(steps),
            observers=[AllDice(observer) for observer in observers],
        )

    def finish(self) -> Outcome:
        """Measure the best weights on all validation cases, and write what was found.

        Raises:
            ValueError: there are no best weights, or a case is damaged; on all ranks.
        """
        with self.ranks.together():
            best = self._best()
        model = model_of(best).to(self.ranks.device)
        loss = make_run_loss(self.config, getattr(model, "levels", 1))
        loss.load_state_dict(best.loss)
        names = validation_names(foreground_shares(self.store, self.config.dataset), None)
        measured = FinalValidation(self.task, self.cases, names, self.ranks)
        ending = measured.run(model, loss, best.step, self.config.training.steps)
        with self.ranks.together():
            if self.ranks.rank == 0:
                write_ending(self.out, ending)
        return ending.outcome

    def _best(self) -> Checkpoint:
        try:
            return read_checkpoint(self.out / BEST)
        except FileNotFoundError as error:
            raise ValueError(
                f"{shown(self.out / BEST)}: missing; no validation had a Dice, since no case had "
                f"foreground in its label or in its mask; look at the validation cases"
            ) from error

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
