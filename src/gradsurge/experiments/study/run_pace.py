"""How long trainings take, as those tell that are there."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from gradsurge.experiments.search.trial_runs import RUNS
from gradsurge.experiments.study.record import Record
from gradsurge.training.observers import read_metrics


@dataclass(frozen=True)
class Pace:
    """Seconds a step takes, and how that is known."""

    seconds: float
    source: str


def seconds_of(folder: Path) -> float | None:
    """Return the seconds that a run's steps have taken so far; None if it kept no metrics."""
    seconds = _step_seconds(folder)
    return sum(seconds) if seconds else None


def validations_of(folder: Path) -> list[list[float]]:
    """Return [step, Dice] of each validation of a run; none if it kept no metrics."""
    looks = _lines(folder, "validation")
    return [[line["step"], line["dice"]] for line in looks if line.get("dice") is not None]


def pace_of(study: Path, records: Sequence[Record]) -> Pace | None:
    """Return how long a step takes in a study; None if there is nothing to tell.

    The median over the runs in its folder; where there is none, over its records.

    Args:
        study: its folder.
        records: of it.
    """
    # Medians: a step during which the machine slept says nothing of the others.
    runs = [median(_step_seconds(folder) or [0.0]) for folder in (study / RUNS).glob("*/*")]
    if measured := [seconds for seconds in runs if seconds]:
        return Pace(median(measured), f"measured on {len(measured)} runs")
    kept = [_of_record(record) for record in records]
    if told := [seconds for seconds in kept if seconds]:
        return Pace(median(told), f"as told by {len(told)} records, perhaps of another machine")
    return None


def _step_seconds(folder: Path) -> list[float]:
    steps = _lines(folder, "step")
    return [float(line["seconds"]) for line in steps if line.get("seconds") is not None]


def _lines(folder: Path, kind: str) -> list[dict[str, Any]]:
    try:
        lines = read_metrics(folder / "metrics.jsonl")
    except (OSError, ValueError):
        return []
    return [line for line in lines if line.get("kind") == kind]


def _of_record(record: Record) -> float | None:
    seconds, steps = record.training.get("seconds"), record.training.get("steps")
    return seconds / steps if seconds and steps else None
