"""The course of a run, finished or not: steps, validations and outcome."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gradsurge.data.case_error import shown
from gradsurge.experiments.runs.config import RunConfig
from gradsurge.experiments.runs.distinct_names import distinct_names
from gradsurge.experiments.runs.outcome import Outcome, read_outcome
from gradsurge.experiments.runs.run_folder import OUTCOME, read_config
from gradsurge.training.observers import read_metrics


@dataclass(frozen=True)
class Validated:
    """A validation: after which step, its scores, and whether it was the best until then."""

    step: int
    scores: Mapping[str, float]
    best: bool


@dataclass(frozen=True)
class RunHistory:
    """What is known of a run.

    Attributes:
        name: that of its folder, with parents where several would be alike.
        config: what it is trained with.
        steps: numbers of the steps done.
        losses: of these steps.
        learning_rates: of these steps.
        minutes: the steps took, validations not counted.
        validations: in order.
        outcome: None while it trains.
    """

    name: str
    config: RunConfig
    steps: list[int]
    losses: list[float]
    learning_rates: list[float]
    minutes: float
    validations: list[Validated]
    outcome: Outcome | None

    @property
    def step(self) -> int:
        """Number of steps done."""
        return self.steps[-1] if self.steps else 0

    def to_json(self) -> dict[str, Any]:
        """Return plain values; of the steps only how many there were."""
        return {
            "run": self.name,
            "loss": self.config.loss,
            "step": self.step,
            "steps": self.config.training.steps,
            "minutes": round(self.minutes, 3),
            "validations": [{"step": v.step, "best": v.best, **v.scores} for v in self.validations],
            "outcome": None if self.outcome is None else self.outcome.to_json(),
        }


def read_history(folder: Path) -> RunHistory:
    """Read what a run has written so far.

    Raises:
        ValueError: the folder holds no run, or a damaged one.
    """
    config = read_config(folder)
    try:
        lines = read_metrics(folder / "metrics.jsonl")
    except FileNotFoundError:
        lines = []
    steps = [line for line in lines if line.get("kind") == "step"]
    try:
        return RunHistory(
            name=folder.resolve().name,
            config=config,
            steps=[line["step"] for line in steps],
            losses=[_number(line["loss"]) for line in steps],
            learning_rates=[_number(line["learning_rate"]) for line in steps],
            minutes=sum(_number(line["seconds"]) for line in steps) / 60,
            validations=[_validated(line) for line in lines if line.get("kind") == "validation"],
            outcome=read_outcome(folder / OUTCOME) if (folder / OUTCOME).exists() else None,
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"{shown(folder / 'metrics.jsonl')}: damaged ({error})") from error


def read_histories(folders: Sequence[Path]) -> list[RunHistory]:
    """Read several runs, whose names then tell them apart.

    Raises:
        ValueError: as `read_history`.
    """
    names = distinct_names(folders)
    return [replace(read_history(f), name=name) for f, name in zip(folders, names, strict=True)]


def _validated(line: Mapping[str, Any]) -> Validated:
    scores = {
        name: float(value)
        for name, value in line.items()
        if name not in ("kind", "step", "best") and value is not None
    }
    return Validated(line["step"], scores, bool(line["best"]))


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)
