"""How trials of a search are told in words."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradsurge.experiments.search import SearchTrial


def point_in_words(point: Mapping[str, Any]) -> str:
    """Return a point in one line.

    >>> point_in_words({"training.learning_rate": 0.00312345, "loss.a": 0.3, "training.seed": 1})
    'learning_rate 0.003123, a 0.3, seed 1'
    """
    parts = [f"{name.partition('.')[2] or name} {_short(value)}" for name, value in point.items()]
    return ", ".join(parts) or "nothing searched"


def counts_in_words(counts: Mapping[str, int]) -> str:
    """Return how many trials are in which state.

    >>> counts_in_words({"done": 3, "running": 1, "waiting": 0, "failed": 0})
    '3 done, 1 running'
    """
    return ", ".join(f"{n} {state}" for state, n in counts.items() if n) or "no trials"


def end_in_words(trial: "SearchTrial") -> str:
    """Return what came of a trial in one line."""
    if trial.dice is not None:
        return f"trial {trial.index}: Dice {trial.dice:.4f}, {trial.minutes:.1f} minutes"
    what = "given up" if trial.state == "failed" else "will be tried again"
    return f"trial {trial.index}: {what}: {trial.reason}"


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
