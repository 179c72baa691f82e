"""Trainings: planned from a store, run, resumed, measured and opened again."""

from gradsurge.experiments.runs.config import RunConfig
from gradsurge.experiments.runs.masks import hard_masks
from gradsurge.experiments.runs.planning import RunRequest, plan_run
from gradsurge.experiments.runs.presets import PRESETS
from gradsurge.experiments.runs.run import RunResult, train_run
from gradsurge.experiments.runs.surgery_schedule import SurgerySchedule
from gradsurge.experiments.runs.task import Task, task_of
from gradsurge.experiments.runs.trained_run import TrainedRun, model_of, open_run

__all__ = [
    "PRESETS",
    "RunConfig",
    "RunRequest",
    "RunResult",
    "SurgerySchedule",
    "Task",
    "TrainedRun",
    "hard_masks",
    "model_of",
    "open_run",
    "plan_run",
    "task_of",
    "train_run",
]
