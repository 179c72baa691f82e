"""A training of ours and one of nnU-Net on the same arrays, a few steps each in turn."""

import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import torch
from _nnunet_orders import Order
from _training_dice import mean_dice
from _training_network_size import network_size
from torch import nn

from gradsurge.data.patches import PatchSettings, PatchSource, stream_batches
from gradsurge.data.store import Store
from gradsurge.experiments.runs.presets import PRESETS
from gradsurge.experiments.runs.whole_cases import WholeCases, evaluating
from gradsurge.losses import DeepSupervision, make_loss
from gradsurge.models import make_model, plan_model
from gradsurge.training import (
    Observer,
    StepFacts,
    TrainJob,
    TrainSettings,
    TrainStart,
    make_fabric,
    train,
)

AHEAD = 8  # more batches than either side's worker has ready when its turn begins
WORKERS = 1


class Turn(NamedTuple):
    """Some steps in a row: seconds of each, those of them spent waiting for data, Dice at last."""

    seconds: list[float]
    waiting: list[float]
    dice: float

    @property
    def steps_a_second(self) -> float:
        kept = self.seconds[_skipped(self) :]
        return len(kept) / sum(kept)

    @property
    def data_share(self) -> float:
        skipped = _skipped(self)
        return sum(self.waiting[skipped:]) / sum(self.seconds[skipped:])


def _skipped(turn: Turn) -> int:
    return min(AHEAD, len(turn.seconds) - 1)


def seconds_to(turns: Sequence[Turn], dice: float) -> float | None:
    """Return the seconds of all steps until the first check that reached a Dice; None for never."""
    spent = 0.0
    for turn in turns:
        spent += sum(turn.seconds)
        if turn.dice >= dice:
            return spent
    return None


def paired_ratio(ours: Sequence[Turn], theirs: Sequence[Turn]) -> list[float]:
    """Return our speed over theirs, turn by turn."""
    return [a.steps_a_second / b.steps_a_second for a, b in zip(ours, theirs, strict=True)]


@dataclass
class Turns(Observer):
    """Lets nnU-Net have its turn after each of ours.

    Time passes here from the end of one step to the end of the next: everything our loop does is
    counted, scoring and the other side's turn are not.
    """

    every: int
    check: Callable[[], float]
    rival: Callable[[], Turn]
    on_turn: Callable[[Turn, Turn], object]
    ours: list[Turn] = field(default_factory=list)
    theirs: list[Turn] = field(default_factory=list)
    _seconds: list[float] = field(default_factory=list)
    _waiting: list[float] = field(default_factory=list)
    _began: float = 0.0

    def started(self, start: TrainStart) -> None:
        self._began = time.perf_counter()

    def step(self, facts: StepFacts) -> None:
        self._seconds.append(time.perf_counter() - self._began)
        self._waiting.append(facts.waiting)
        if facts.step % self.every == 0:
            self.ours.append(Turn(self._seconds, self._waiting, self.check()))
            self._seconds, self._waiting = [], []
            self.theirs.append(self.rival())
            self.on_turn(self.ours[-1], self.theirs[-1])
        self._began = time.perf_counter()


class Race(NamedTuple):
    """What came of it, and what each network is."""

    ours: list[Turn]
    theirs: list[Turn]
    our_network: dict[str, Any]
    their_network: dict[str, Any]


@dataclass(frozen=True)
class Course:
    """What both sides train on, and how."""

    store: Store
    folder: Path
    training: list[str]
    validation: list[str]
    checked: list[str]
    loss: str
    optimiser: str
    features: int
    batch: int
    steps: int
    every: int

    def run(
        self, order: Order, network: str, work: Path, on_turn: Callable[[Turn, Turn], object]
    ) -> Race:
        """Train both; nnU-Net with a "plain" or a "residual" network."""
        # nnU-Net's SGD is the default of a training; AdamW comes with the values of "quick".
        of_preset = dict(PRESETS["quick"].training) if self.optimiser == "adamw" else {}
        theirs = order(
            "train_start",
            folder=str(self.folder),
            network=network,
            features=self.features,
            batch=self.batch,
            rate=of_preset.get("learning_rate"),
            splits={"train": self.training, "val": self.validation},
            checked=self.checked,
            epochs=self.steps // self.every,
            steps=self.every,
            threads=torch.get_num_threads(),
        )
        patch = tuple(theirs["patch"])
        torch.manual_seed(0)
        model = self._model(patch, theirs)
        turns = Turns(
            self.every,
            lambda: self._dice(model, patch),
            lambda: Turn(**order("train_epoch", steps=self.every)),
            on_turn,
        )
        rare = {"validate_every": self.steps, "checkpoint_every": self.steps}
        settings = TrainSettings(**{**of_preset, "steps": self.steps, **rare})
        level = make_loss(self.loss, optimiser=self.optimiser)
        loss = DeepSupervision(level, model.levels)  # type: ignore[arg-type]
        batches = self._batches(patch)
        job = TrainJob(model, loss, batches, settings, work, {}, observers=[turns])
        train(job, make_fabric("cpu"), resume=False)
        order("train_stop")
        size = network_size(model, len(self.store.dataset.channel_names), patch)
        return Race(turns.ours, turns.theirs, {"network": "ResidualUNet", **size}, theirs)

    def _model(self, patch: tuple[int, ...], theirs: Mapping[str, Any]) -> nn.Module:
        facts = self.store.dataset
        config = plan_model(
            "residual-unet",
            len(facts.channel_names),
            len(facts.label_names),
            patch,
            features=self.features,
            deep_supervision=True,
        )
        for name in ("strides", "kernels", "features"):
            mine, its = config.to_json()["options"][name], theirs[name]
            assert mine == its, f"{name}: nnU-Net has {its}, ours {mine}"
        return make_model(config)

    def _batches(self, patch: tuple[int, ...]) -> Callable[[int], Iterator[Mapping[str, Any]]]:
        settings = PatchSettings(patch, batch=self.batch, draw="independent")
        source = PatchSource(self.store, self.training, settings, "nnunet")

        def batches(first: int) -> Iterator[Mapping[str, Any]]:
            return stream_batches(source, 0, first, self.steps, workers=WORKERS)

        return batches

    def _dice(self, model: nn.Module, patch: tuple[int, ...]) -> float:
        cases = WholeCases(self.store, patch, torch.device("cpu"))
        with evaluating(model):
            masks = [cases.logits(model, name).argmax(0).numpy() for name in self.checked]
        labels = [cases.label(name).numpy() for name in self.checked]
        return mean_dice(masks, labels, range(1, len(self.store.dataset.label_names)))


def median_speed(turns: Sequence[Turn]) -> float:
    return statistics.median(turn.steps_a_second for turn in turns)
