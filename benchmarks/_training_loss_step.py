"""Training steps that differ in the loss alone: same network, same batch, in turns."""

import math
import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_

from gradsurge.experiments.runs.presets import PRESETS
from gradsurge.losses import make_loss
from gradsurge.models import make_model, plan_model
from gradsurge.training import TrainSettings
from gradsurge.training.optimiser import make_optimiser

# The first is the noise of measuring: a loss against itself.
PAIRS = (("dice", "dice"), ("dice", "dice-surgery"), ("ce+dice", "ce+dice-surgery"))
PATCHES = {"3D": (40, 56, 40), "2D": (192, 192)}
WARM_UP = 3


class PairedSteps(NamedTuple):
    """Milliseconds of plain and of other steps, pair by pair."""

    task: str
    plain: str
    other: str
    plain_ms: list[float]
    other_ms: list[float]

    @property
    def ratio(self) -> float:
        """Median over pairs of the other's time over the plain one's."""
        return statistics.median(b / a for a, b in zip(self.plain_ms, self.other_ms, strict=True))

    @property
    def spread(self) -> float:
        """Standard error of that median, from the quartiles of the ratios."""
        ratios = [b / a for a, b in zip(self.plain_ms, self.other_ms, strict=True)]
        if len(ratios) < 2:
            return math.nan
        low, _, high = statistics.quantiles(ratios, n=4)
        return float(1.2533 * (high - low) / 1.349 / math.sqrt(len(ratios)))


def measure_pairs(task: str, rounds: int) -> list[PairedSteps]:
    """Time pairs of steps of the preset "quick" in "2D" or "3D"."""
    model, image, label = quick_batch(task)
    return [_measure(model, image, label, task, *pair, rounds) for pair in PAIRS]


def quick_batch(task: str) -> tuple[nn.Module, Tensor, Tensor]:
    """Return the network of the preset "quick", and images and labels of one batch."""
    torch.manual_seed(0)
    patch, preset = PATCHES[task], PRESETS["quick"]
    axes = len(patch)
    config = plan_model("residual-unet", 1, 2, patch, **preset.model_options[axes])
    model = make_model(config).train()
    image = torch.randn(preset.batch[axes], 1, *patch)
    label = (torch.rand(image.shape[0], *patch) < 0.05).to(torch.uint8)
    return model, image, label


def _measure(
    model: nn.Module,
    image: Tensor,
    label: Tensor,
    task: str,
    plain: str,
    other: str,
    rounds: int,
) -> PairedSteps:
    steps = [training_step(model, make_loss(name)) for name in (plain, other)]
    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(rounds + WARM_UP):
        # Each goes first every other time: the second finds warmer caches.
        for which in (0, 1) if turn % 2 else (1, 0):
            start = time.perf_counter()
            steps[which](image, label)
            if turn >= WARM_UP:
                times[which].append(1e3 * (time.perf_counter() - start))
    return PairedSteps(task, plain, other, *times)


def training_step(model: nn.Module, loss: nn.Module) -> Callable[[Tensor, Tensor], None]:
    """Return a training step: forward, backward, clipped, AdamW."""
    settings = TrainSettings(steps=1, optimiser="adamw", learning_rate=1e-4)
    optimiser = make_optimiser(model, settings)

    def step(image: Tensor, label: Tensor) -> None:
        loss(model(image), label).backward()
        clip_grad_norm_(model.parameters(), 12.0)
        optimiser.step()
        optimiser.zero_grad()

    return step
