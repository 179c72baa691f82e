import math
import os
import sys
from typing import NamedTuple

import pytest

from gradsurge.cli import main
from gradsurge.experiments.threads import LIBRARIES_ASK

MOST_VOXELS, MOST_STEPS = 48 * 48 * 40, 200


class Result(NamedTuple):
    """What subprocess.run would tell."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture(autouse=True)
def threads_as_before():
    """--threads is told to the environment, which other tests should not inherit."""
    before = {name: os.environ.get(name) for name in LIBRARIES_ASK}
    yield
    for name, value in before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


@pytest.fixture(autouse=True)
def no_large_training(monkeypatch):
    """A recipe of the paper that is not refused as it should be fails, instead of taking days."""
    from gradsurge.experiments.search import trial_runs
    from gradsurge.experiments.study import final_runs

    def small(train):
        def checked(config, *others, **more):
            assert math.prod(config.patches.size) <= MOST_VOXELS, config.patches.size
            assert config.training.steps <= MOST_STEPS, config.training.steps
            return train(config, *others, **more)

        return checked

    for module in (trial_runs, final_runs):
        monkeypatch.setattr(module, "train_run", small(module.train_run))


@pytest.fixture
def run(capsys, monkeypatch):
    """The command in this process: what a new one needs to import takes seconds each time."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["gradsurge", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        return Result(end.value.code, *capsys.readouterr())

    return run
