"""The trainings of a demo: the same call for every loss, and nothing else."""

from contextlib import closing
from functools import partial
from pathlib import Path

from gradsurge.data.store import Store
from gradsurge.experiments.demo.compared import LOSSES, TITLES
from gradsurge.experiments.demo.folder import RUNS
from gradsurge.experiments.demo.plan import DemoPlan
from gradsurge.experiments.demo.training_progress import watched
from gradsurge.experiments.demo.watcher import DemoStopped, Watcher
from gradsurge.experiments.runs import RunConfig, RunResult, plan_run, train_run
from gradsurge.experiments.workers import each_in_order
from gradsurge.training.observers import MetricsFile


def train_all(
    plan: DemoPlan, store: Store, out: Path, watcher: Watcher, *, device: str, jobs: int
) -> dict[str, RunResult]:
    """Train a model with each loss, as ``gradsurge train`` does; go on with what has begun.

    Small networks hardly gain by a second thread: three trainings at a time, one thread each, take
    two thirds of the time on two cores, and half of that where others use the cores too.

    Args:
        plan: of the demo.
        store: the cases.
        out: folder of the demo.
        watcher: told of the steps of all trainings together.
        device: of the trainings.
        jobs: trainings at a time.

    Returns:
        Loss -> its run.

    Raises:
        DemoStopped: a signal came; what was trained is saved.
        ValueError: the folder of a run holds another one.
        TrainingError: the data, the validation or the disk failed.
        WorkerError: a process died.
    """
    configs = {loss: plan_run(store, plan.of_loss(loss)) for loss in LOSSES}
    folders = {loss: out / RUNS / loss for loss in LOSSES}
    steps = next(iter(configs.values())).training.steps
    work = partial(train_one, out=out / RUNS, device=device)
    with (
        watched(list(folders.values()), steps, watcher),
        closing(each_in_order(work, configs.values(), jobs)) as done,
    ):
        found = {result.config.loss: result for result in done}
    for loss, result in found.items():
        if result.outcome is None:
            raise DemoStopped(f"training {TITLES[loss]}, step {result.step} of {steps}")
    return found


def train_one(config: RunConfig, out: Path, device: str) -> RunResult:
    """Train with one loss, in this process or in one of several."""
    return train_run(
        config, out / config.loss, resume=True, device=device, observers=[MetricsFile()]
    )
