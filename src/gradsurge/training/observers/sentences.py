"""How a training is told in words, on a terminal or in a log."""

import math
from collections.abc import Mapping
from pathlib import Path

from gradsurge.training.job import LAST, TrainEnd, TrainStart


def describe_scores(scores: Mapping[str, float]) -> str:
    """Return Dice and ECE, those that there are.

    >>> describe_scores({"nll": 0.1, "ece": 0.01234, "dice": 0.85})
    'Dice 0.8500, ECE 0.0123'
    """
    shown = (("dice", "Dice"), ("ece", "ECE"))
    return ", ".join(f"{label} {scores[name]:.4f}" for name, label in shown if name in scores)


def describe_validation(step: int, scores: Mapping[str, float], best: bool) -> str:
    """Return a validation in one line."""
    return f"step {step}: validation: {describe_scores(scores)}{', best so far' if best else ''}"


def describe_start(start: TrainStart) -> str:
    """Return where it sets in."""
    if start.step == 0:
        return f"training {start.settings.steps} steps: {start.folder}"
    return f"going on after step {start.step} of {start.settings.steps}: {start.folder}"


def describe_end(end: TrainEnd, folder: Path) -> str | None:
    """Return how it ended and how to go on; None after an error, which tells itself."""
    if end.reason == "failed":
        return None
    if end.reason == "interrupted":
        return (
            f"stopped after step {end.step}, which is saved in {folder / LAST}; "
            f"the same command with --resume goes on from there"
        )
    if end.best is None or not math.isfinite(end.best.dice):
        return f"finished after step {end.step}"
    return f"finished after step {end.step}; best Dice {end.best.dice:.4f} at step {end.best.step}"
