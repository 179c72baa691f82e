"""Real processes that train one study together, and one of them is killed."""

import os
import signal

import pytest
import torch

from gradsurge.experiments.runs import open_run
from gradsurge.experiments.search import join_study, journal_of, points_of, read_trials
from gradsurge.experiments.search.attempt import read_attempts
from gradsurge.training import read_checkpoint
from gradsurge.training.observers import read_metrics
from tests.experiments.search.tiny import STEPS, TRIALS, start_worker, trial_runs, wait_for


def study_of(recipe, store, folder, storage):
    runs = trial_runs(recipe, store, folder)
    return runs, join_study(runs.recipe, runs.variant, folder, storage)


def end(processes, seconds=120):
    for process in processes:
        process.join(seconds)
    return [process.exitcode for process in processes]


def begun(folder):
    return sorted(int(line) for line in (folder / "begun.txt").read_text().split())


def assert_every_trial_ran_once(runs, trials):
    """Every step of every trial once, in one folder each, with the Dice of that folder's run."""
    assert [trial.state for trial in trials] == ["done"] * TRIALS
    assert [trial.point for trial in trials] == points_of(runs.recipe, runs.variant)
    for trial in trials:
        folder = runs.folder / trial.run
        steps = [x["step"] for x in read_metrics(folder / "metrics.jsonl") if x["kind"] == "step"]
        assert steps == list(range(1, STEPS + 1))
        assert trial.dice == open_run(folder).outcome.scores["none"].dice
    folders = sorted(p.name for p in (runs.folder / "runs" / "dice-surgery").iterdir())
    assert folders == [f"trial_{i:03d}" for i in range(TRIALS)]


@pytest.fixture(scope="module")
def unbroken(recipe, store, tmp_path_factory):
    """A search by two workers, undisturbed."""
    folder = tmp_path_factory.mktemp("unbroken")
    workers = [start_worker(recipe, store, folder) for _ in range(2)]
    assert end(workers) == [0, 0]
    return folder


def test_two_workers_share_a_journal(recipe, store, unbroken):
    folder = unbroken
    runs, study = study_of(recipe, store, folder, journal_of(folder))
    trials = read_trials(study)
    assert_every_trial_ran_once(runs, trials)
    assert begun(folder) == list(range(TRIALS))
    assert {trial.attempts for trial in trials} == {1}
    names = {attempt.worker["name"] for attempt in read_attempts(study) if attempt.worker}
    assert len(names) == 2
    assert not list((folder / "workers").iterdir())


def test_one_of_three_workers_on_postgres_is_killed(recipe, store, postgres, unbroken, tmp_path):
    folder = tmp_path / "search"
    workers = [start_worker(recipe, store, folder, postgres, slow=0.05) for _ in range(3)]
    runs, study = wait_for(lambda: study_of(recipe, store, folder, postgres))
    victim = wait_for(lambda: one_past_its_checkpoint(study, runs, workers))
    taken = begun(folder)
    os.kill(victim.pid, signal.SIGKILL)
    victim.join()
    assert sorted(end(workers)) == [-signal.SIGKILL, 0, 0]
    trials = read_trials(study)
    assert_every_trial_ran_once(runs, trials)
    again = [trial for trial in trials if trial.attempts == 2]
    assert len(again) == 1
    assert begun(folder) == sorted([*range(TRIALS), again[0].index])
    assert again[0].index in taken
    states = sorted(attempt.state for attempt in read_attempts(study) if attempt.worker)
    assert states == ["closed"] + ["complete"] * TRIALS
    went_on = [a for a in read_attempts(study) if a.index == again[0].index and a.count == 1]
    assert went_on[0].began >= 4  # not from the first step
    assert_same_weights(folder / again[0].run, unbroken / again[0].run)


def one_past_its_checkpoint(study, runs, workers):
    """Return a process in the middle of a trial of which a checkpoint was written."""
    for trial in read_trials(study):
        if trial.state != "running" or trial.worker is None:
            continue
        folder = runs.run_folder(trial.index, trial.point)
        if (folder / "last.pt").exists() and not (folder / "best.pt").exists():
            return next(w for w in workers if f"-{w.pid}-" in trial.worker)
    return None


def assert_same_weights(run, other_run):
    for name in ("last.pt", "best.pt"):
        one, other = read_checkpoint(run / name), read_checkpoint(other_run / name)
        assert one.step == other.step
        assert one.weights.keys() == other.weights.keys()
        for key, value in one.weights.items():
            assert torch.equal(value, other.weights[key])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stopped_worker_gives_its_trial_back(recipe, store, number, tmp_path):
    folder = tmp_path / "search"
    worker = start_worker(recipe, store, folder, slow=0.05)
    runs, study = wait_for(lambda: study_of(recipe, store, folder, journal_of(folder)))
    wait_for(lambda: one_past_its_checkpoint(study, runs, [worker]))
    os.kill(worker.pid, number)
    assert end([worker]) == [0]
    first, *others = read_trials(study)
    assert {trial.state for trial in (first, *others)} == {"waiting"}
    assert first.attempts == 1
    assert first.reason.startswith("its worker was stopped after step ")
    saved = read_checkpoint(runs.run_folder(0, first.point) / "last.pt").step
    assert first.reason == f"its worker was stopped after step {saved}"
