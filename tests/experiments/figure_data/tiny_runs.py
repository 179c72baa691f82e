"""Runs of a few steps to draw figures of, made in a second."""

from pathlib import Path

from gradsurge.data.datasets.phantom_set import PhantomSet
from gradsurge.data.store import Store
from gradsurge.experiments.preparing import prepare
from gradsurge.experiments.runs import RunRequest, plan_run, train_run
from gradsurge.training.observers import MetricsFile

TINY = {
    "patches": {"batch": 2},
    "augmentation": "none",
    "model_options": {"features": 4, "cap": 8},
    "training": {"steps": 6, "validate_every": 3, "checkpoint_every": 6, "learning_rate": 0.03},
}


def phantom_store(folder, name="lesions-3d", size=(24, 24, 16), cases=8):
    done = prepare(PhantomSet(name, cases, list(size), 0), Path(), folder)
    assert not done.failures, done.failures
    return Store.open(folder)


def tiny_run(store, folder, loss="dice", **training):
    patch = (16,) * store.dataset.dimensions
    wishes = {**TINY, "patch": patch, "training": {**TINY["training"], **training}}
    result = train_run(
        plan_run(store, RunRequest(loss, **wishes)), folder, observers=[MetricsFile()]
    )
    assert result.state == "finished"
    return folder
