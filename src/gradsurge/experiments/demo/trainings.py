"""The trainings of a demo: the same call for every loss, and nothing else."""

from pathlib import Path

from gradsurge.data.store import Store
from gradsurge.experiments.demo.compared import LOSSES, TITLES
from gradsurge.experiments.demo.folder import RUNS
from gradsurge.experiments.demo.plan import DemoPlan
from gradsurge.experiments.demo.watcher import DemoStopped, StepWatcher, Watcher
from gradsurge.experiments.runs import RunResult, plan_run, train_run
from gradsurge.training.observers import MetricsFile

KEPT = "kept, trained before"


def train_all(
    plan: DemoPlan,
    store: Store,
    out: Path,
    watcher: Watcher,
    *,
    device: str = "auto",
) -> dict[str, RunResult]:
    """Train a model with each loss, as ``gradsurge train`` does; go on with what has begun.

    Returns:
        Loss -> its run.

    Raises:
        DemoStopped: a signal came; what was trained is saved.
        ValueError: the folder of a run holds another one.
        TrainingError: the data, the validation or the disk failed.
    """
    found = {}
    for loss in LOSSES:
        title = f"training {TITLES[loss]}"
        config = plan_run(store, plan.of_loss(loss))
        watcher.stage(title, config.training.steps)
        result = train_run(
            config,
            out / RUNS / loss,
            resume=True,
            device=device,
            observers=[MetricsFile(), StepWatcher(watcher)],
            on_stage=watcher.note,
        )
        if result.outcome is None:
            raise DemoStopped(f"{title}, step {result.step} of {config.training.steps}")
        if result.state == "complete":
            watcher.done(result.step, KEPT)
            watcher.note(KEPT)
        found[loss] = result
    return found
