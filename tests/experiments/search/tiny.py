"""A recipe that trains within a second, and workers in processes of their own."""

import multiprocessing
import time
from pathlib import Path

import torch

from gradsurge.data.store import Store
from gradsurge.experiments.recipes import read_recipe
from gradsurge.experiments.search import (
    TrialRuns,
    WorkerSettings,
    join_study,
    journal_of,
    run_worker,
)
from gradsurge.training import Observer

STEPS, TRIALS = 12, 4
RECIPE = f"""
title = "Tiny"

[data]
dataset = "lesions-2d"
settings = {{ cases = 10, size = [24, 24] }}

[run]
preset = "quick"
patch = [16, 16]
patches = {{ batch = 2 }}
model_options = {{ features = 4, cap = 8 }}
training = {{ steps = {STEPS}, validate_every = 6, checkpoint_every = 4, warmup = 0 }}

[search]
kind = "random"
trials = {TRIALS}
keep = 2

[search.space]
"training.learning_rate" = {{ low = 1e-3, high = 1e-2, scale = "log" }}

[variants]
dice = {{}}
dice-surgery = {{}}
tversky = {{ space = {{ "loss.a" = [0.3, 0.4, 0.6, 0.7] }} }}
"dice-surgery.n1" = {{ loss_options = {{ decline = 1 }}, point_of = "dice-surgery" }}

[tables]
1 = {{}}
"""


def write_recipe(folder):
    file = folder / "tiny.toml"
    file.write_text(RECIPE)
    return file


class SlowSteps(Observer):
    """Leaves a test the time to look and to kill."""

    def __init__(self, seconds):
        self.seconds = seconds

    def step(self, facts):
        time.sleep(self.seconds)


def trial_runs(recipe, store, folder, **wishes):
    read = read_recipe(str(recipe))
    return TrialRuns(
        read, read.variant("dice-surgery"), Store.open(store), folder, device="cpu", **wishes
    )


def work(recipe, store, folder, storage, settings, slow):
    """What a worker's process does; each training that begins is noted."""
    torch.set_num_threads(1)
    runs = trial_runs(recipe, store, folder, observers=lambda: [SlowSteps(slow)])
    study = join_study(runs.recipe, runs.variant, folder, storage or journal_of(folder))

    def noted(index, point):
        with (folder / "begun.txt").open("a") as file:
            file.write(f"{index}\n")
        return runs(index, point)

    run_worker(study, noted, folder=folder, held=runs.held, pulse=runs.pulse, settings=settings)


def start_worker(recipe, store, folder, storage=None, slow=0.0, **settings):
    """Start a process; a server has torch and Fabric imported already, so it takes no time."""
    folder.mkdir(exist_ok=True)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__.replace("tiny", "warm"), __name__])
    chosen = WorkerSettings(**{"beat": 0.5, "poll": 0.5, **settings})
    arguments = (recipe, Path(store), folder, storage, chosen, slow)
    process = context.Process(target=work, args=arguments, daemon=True)  # ends with a failed test
    process.start()
    return process


def wait_for(condition, seconds=240.0):
    """Return what a condition comes to; on a busy machine that takes its time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError("it did not happen")
