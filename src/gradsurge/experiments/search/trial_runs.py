"""Trials as ordinary runs: planned from a recipe, resumable, in a folder each."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gradsurge.data.store import Store
from gradsurge.data.store.dataset_file import NAME as DATASET
from gradsurge.experiments.recipes import Recipe, Variant, point_slug
from gradsurge.experiments.runs import RunConfig, plan_run, train_run
from gradsurge.experiments.runs.early_look import EarlyLook
from gradsurge.experiments.runs.outcome import Outcome
from gradsurge.experiments.search.heart import Pulse
from gradsurge.experiments.search.presence import is_held
from gradsurge.experiments.search.worker_contract import (
    NothingToTrainOn,
    TrialInterrupted,
    TrialOutcome,
)
from gradsurge.training import Observer
from gradsurge.training.observers import MetricsFile

RUNS = "runs"


@dataclass
class TrialRuns:
    """Trains the points of a variant; called with index and point, as `run_worker` does.

    Attributes:
        recipe: the protocol.
        variant: of the recipe.
        store: the prepared cases.
        folder: of the search; runs go to runs/<variant>/ in it.
        share: part of the steps.
        pulse: told of steps.
        device: as of `train_run`.
        workers: processes that make patches.
        observers: made anew for each run.
        on_look: gets looks at a case, and the run's folder.
        on_stage: told what is done beside training.
    """

    recipe: Recipe
    variant: Variant
    store: Store
    folder: Path
    share: float = 1.0
    pulse: Pulse = field(default_factory=Pulse)
    device: str = "auto"
    workers: int = 0
    observers: Callable[[], Sequence[Observer]] = list
    on_look: Callable[[EarlyLook, Path], object] | None = None
    on_stage: Callable[[str], None] = lambda _: None

    def __call__(self, index: int, point: Mapping[str, Any]) -> TrialOutcome:
        """Train a point, or go on with it; see `train_run`.

        Raises:
            TrialInterrupted: a signal came; everything is saved.
            NothingToTrainOn: the store is gone.
            NoCompilerError: it is to be compiled, and cannot be here.
        """
        check_there(self.store)
        folder, look = self.run_folder(index, point), self.on_look
        result = train_run(
            self.plan(index, point),
            folder,
            resume=True,
            device=self.device,
            workers=self.workers,
            observers=[MetricsFile(), self.pulse, *self.observers()],
            on_look=None if look is None else lambda seen: look(seen, folder),
            on_stage=self.on_stage,
        )
        if result.outcome is None:
            raise TrialInterrupted(f"stopped after step {result.step}")
        return outcome_of(result.outcome, str(folder.relative_to(self.folder)))

    def run_folder(self, index: int, point: Mapping[str, Any]) -> Path:
        """Return the folder of a point's run: trial_007 of a random search, lr0.003 of a grid.

        Tried with a part of the steps, a point of a grid is lr0.003_tried: the best one is trained
        again with all of them.
        """
        return self._folder_of(self.variant.name, index, point)

    def plan(self, index: int, point: Mapping[str, Any]) -> RunConfig:
        """Return the run of a point, fully resolved.

        Raises:
            ValueError: recipe, point and store do not go together.
        """
        before = self.variant.init
        init = None if before is None else self._folder_of(before, index, point)
        request = self.recipe.request(self.variant, point, share=self.share, init=init)
        return plan_run(self.store, request)

    def held(self, index: int, point: Mapping[str, Any]) -> bool:
        """Tell whether a training is at work in the folder of a point."""
        return is_held(self.run_folder(index, point))

    def _folder_of(self, variant: str, index: int, point: Mapping[str, Any]) -> Path:
        if self.recipe.search.kind == "random":
            name = f"trial_{index:03d}"
        else:
            name = point_slug(point) + ("_tried" if self.share < 1 else "")
        return self.folder / RUNS / variant / name


def check_there(store: Store) -> None:
    """See that there still is a store: without it all points of all studies would fail in seconds.

    Raises:
        NothingToTrainOn: there is none.
    """
    # Not Path.is_file, which raises where a mount is stale instead of empty.
    if not os.path.isfile(store.path / DATASET):  # noqa: PTH113
        raise NothingToTrainOn(
            f"{store.path}: the store is gone, which every training needs; bring it back, and the "
            f"same command goes on"
        )


def outcome_of(outcome: Outcome, run: str) -> TrialOutcome:
    """Return what a search keeps of a run.

    Trials are chosen by the Dice of the masks at p > 1/2, or of the likeliest class, as in the
    paper: a threshold tuned on the same cases would reward losses for what was fitted afterwards.

    Args:
        outcome: of the run.
        run: its folder, relative to that of the search.

    Raises:
        ValueError: the validation cases gave no Dice.
    """
    raw = outcome.scores["none"]
    if raw.dice is None:
        raise ValueError(f"{run}: its validation cases gave no Dice to choose by")
    scores = {name: getattr(raw, name) for name in ("dice", "nll", "ece", "mce", "brier")}
    mask = {"mask_dice": outcome.mask_dice, "correction": outcome.correction}
    return TrialOutcome(raw.dice, run, outcome.step, {**scores, **mask})
