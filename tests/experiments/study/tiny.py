"""A study that takes seconds: phantoms of 32 pixels, a handful of steps."""

import os
import signal

from gradsurge.experiments.recipes import read_recipe
from gradsurge.experiments.search import WorkerSettings, journal_of
from gradsurge.experiments.study import StudySite, StudyWatcher, enter_study, study_store
from gradsurge.training import Observer

GRID = """
title = "Tiny"
[data]
dataset = "lesions-2d"
settings = { cases = 10, size = [32, 32] }
[run]
preset = "quick"
patch = [32, 32]
patches = { batch = 2 }
model_options = { features = 4, cap = 8 }
training = { steps = 4, validate_every = 4, checkpoint_every = 4 }
[search]
kind = "grid"
share = 0.5
space = { "training.learning_rate" = [3e-3, 1e-2] }
[variants]
dice = { seeds = 2 }
dice-surgery = {}
"dice-surgery.n1" = { loss_options = { decline = 1 }, point_of = "dice-surgery" }
"dice.first" = { share = 0.5, point_of = "dice" }
[variants."dice-surgery.finetune"]
init = "dice.first"
share = 0.5
point_of = "dice"
[tables]
1 = { variants = ["dice", "dice-surgery"] }
3 = { variants = ["dice-surgery.n1"] }
6 = { variants = ["dice-surgery"] }
corrections = { variants = ["dice", "dice-surgery"] }
schedule = { variants = ["dice-surgery.finetune"] }
shift = { variants = ["dice-surgery.n1"] }
[scale.smoke]
[scale.small]
seeds = 1
"""
RANDOM = (
    GRID.replace('kind = "grid"\nshare = 0.5', 'kind = "random"\ntrials = 3\nkeep = 2')
    .replace("[3e-3, 1e-2]", '{ low = 1e-3, high = 1e-2, scale = "log" }')
    .replace("{ seeds = 2 }", "{}")
)


def tiny_recipe(folder, text=GRID, scale="smoke"):
    file = folder / "tiny.toml"
    file.write_text(text)
    return read_recipe(str(file), scale)


class Killer(Observer):
    def step(self, facts):
        os.kill(os.getpid(), signal.SIGTERM)


class Told(StudyWatcher):
    """Notes what it is told; SIGTERM comes after the first step of the training ``at``, from 1."""

    def __init__(self, at=None):
        self.trained, self.failures, self.measured = [], {}, []
        self.at = at

    def training(self, name):
        self.trained.append(name)

    def observers(self):
        return [Killer()] if len(self.trained) == self.at else []

    def measuring(self, name, looks):
        self.measured.append(name)

    def failed(self, name, reason):
        self.failures[name] = reason


def tiny_site(recipe, folder, watcher, store=None, storage=None):
    prepared = study_store(recipe, folder, store)
    enter_study(folder, recipe, prepared)
    return StudySite(
        recipe,
        folder,
        prepared,
        storage or journal_of(folder),
        device="cpu",
        watcher=watcher,
        behaviour=WorkerSettings(beat=1.0, grace=5.0, stay=False, poll=0.1),
    )
