"""What a worker does with trials that end well, fail, die, or are taken from it."""

import errno
import os
import signal
import threading
import time
import uuid
from pathlib import Path
from types import SimpleNamespace

import pytest

from gradsurge.experiments.search import (
    NothingToTrainOn,
    Pulse,
    TrialInterrupted,
    TrialOutcome,
    WorkerEnd,
    WorkerSettings,
    WorkerWatcher,
    open_study,
    presence,
    read_trials,
    retry_failed,
    run_worker,
    worker,
)
from gradsurge.experiments.search.attempt import WORKER, by_point, read_attempts
from gradsurge.experiments.search.heart import Heart
from gradsurge.experiments.search.states import add_next, claim, close, note
from gradsurge.experiments.search.take_up import Undertaker
from gradsurge.experiments.search.trial_runs import check_there
from gradsurge.experiments.search.worker_contract import NOT_HERE
from gradsurge.training import TrainSettings
from gradsurge.training.job import StepFacts, TrainStart
from gradsurge.training.signals import StopSignal

FAST = {"beat": 0.05, "grace": 0.3, "poll": 0.05}
POINTS = [{"a": i} for i in range(4)]


@pytest.fixture
def study(storage):
    return open_study(storage, f"study-{uuid.uuid4().hex}", POINTS)


@pytest.fixture
def journal(tmp_path):
    return open_study(str(tmp_path / "search.journal"), "study", POINTS)


def outcome(index, point):
    return TrialOutcome(dice=index / 10, run=f"runs/trial_{index:03d}", step=5, scores={"nll": 1.0})


def settings(**wishes):
    return WorkerSettings(**{**FAST, **wishes})


def begin(pulse, step):
    """Let a training begin at a step, as far as the pulse can see."""
    pulse.started(TrainStart(TrainSettings(steps=100), None, step, -1, None))


def foreign_claim(study, index, machine="another", beats=1):
    """Claim a point as a worker of another machine, which is then never heard of again."""
    attempt = next(a for a in read_attempts(study) if a.index == index and a.state == "waiting")
    assert claim(study, attempt)
    note(study, attempt, WORKER, {"name": f"far-{index}", "machine": machine})
    note(study, attempt, "beat", {"beats": beats, "step": 7, "began": 0, "minutes": 2.0})
    return attempt


def test_every_point_is_trained_once(study, tmp_path):
    trained = []

    def train(index, point):
        trained.append((index, dict(point)))
        return outcome(index, point)

    end = run_worker(study, train, folder=tmp_path, settings=settings())
    assert end == WorkerEnd("complete", (0, 1, 2, 3))
    assert trained == list(enumerate(POINTS))
    found = read_trials(study)
    assert [(t.state, t.dice, t.run, t.step) for t in found] == [
        ("done", i / 10, f"runs/trial_{i:03d}", 5) for i in range(4)
    ]
    assert found[1].scores == {"nll": 1.0}
    assert study.best_value == 0.3  # by Optuna itself
    assert run_worker(study, train, folder=tmp_path, settings=settings()).trained == ()


def test_threads_that_claim_at_once_get_different_points(study):
    taken, start = [], threading.Barrier(3)

    def train(index, point):
        taken.append(index)
        time.sleep(0.02)
        return outcome(index, point)

    def work():
        start.wait()
        run_worker(study, train, settings=settings(grace=30.0))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == [0, 1, 2, 3]


def test_one_of_those_who_close_an_attempt_succeeds(study):
    attempt = foreign_claim(study, 0)
    start, won = threading.Barrier(4), []

    def bury():
        start.wait()
        won.append(close(study, attempt, {"kind": "dead", "again": True}))

    threads = [threading.Thread(target=bury) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(won) == [False, False, False, True]


def test_a_silent_worker_of_another_machine_is_dead_after_the_grace(study, tmp_path):
    foreign_claim(study, 2)
    began = time.monotonic()
    end = run_worker(study, outcome, folder=tmp_path, settings=settings(grace=0.5))
    assert time.monotonic() - began > 0.5
    assert end.trained == (0, 1, 3, 2)
    trial = read_trials(study)[2]
    assert (trial.state, trial.attempts) == ("done", 2)
    assert trial.minutes >= 2.0  # those of the dead one count
    first = by_point(read_attempts(study))[2][0]
    assert first.end["reason"] == "its worker far-2 died after step 7"


def test_a_worker_of_this_machine_that_is_gone_is_dead_at_once(journal, tmp_path):
    foreign_claim(journal, 0, machine=presence.this_machine())
    end = run_worker(journal, outcome, folder=tmp_path, settings=settings(grace=1000.0))
    assert end.reason == "complete"


def test_a_worker_that_is_there_is_left_alone_however_silent(journal, tmp_path):
    worker = presence.Worker()
    attempt = next(a for a in read_attempts(journal) if a.index == 0)
    assert claim(journal, attempt)
    note(journal, attempt, WORKER, worker.to_json())
    with presence.present(tmp_path, worker):
        end = run_worker(journal, outcome, folder=tmp_path, settings=settings(stay=False))
    assert end == WorkerEnd("left", (1, 2, 3))
    assert run_worker(journal, outcome, folder=tmp_path, settings=settings()).trained == (0,)


def test_a_run_folder_in_use_is_left_alone(journal, tmp_path):
    held = {0, 1}
    foreign_claim(journal, 0)
    found = []

    class Watcher(WorkerWatcher):
        def idle(self, trials):
            found.append([trial.state for trial in trials])
            held.clear()  # it is free now

    end = run_worker(
        journal,
        outcome,
        folder=tmp_path,
        held=lambda index, point: index in held,
        settings=settings(),
        watcher=Watcher(),
    )
    assert found[0] == ["running", "waiting", "done", "done"]
    assert end.trained[:2] == (2, 3)
    assert sorted(end.trained) == [0, 1, 2, 3]


def test_who_leaves_first_makes_sure_that_others_live(journal):
    attempt = foreign_claim(journal, 0)
    stop = threading.Event()

    def beat():
        for beats in range(2, 1000):
            if stop.wait(0.05):
                return
            note(journal, attempt, "beat", {"beats": beats})

    thread = threading.Thread(target=beat)
    thread.start()
    end = run_worker(journal, outcome, settings=settings(stay=False, grace=30.0))
    stop.set()
    thread.join()
    assert end == WorkerEnd("left", (1, 2, 3))


def test_a_failing_trial_is_given_up_with_its_reason(study):
    tried = []

    def train(index, point):
        if index == 1:
            tried.append(index)
            raise RuntimeError("the loss is not\nfinite in step 3, cases a, b")
        return outcome(index, point)

    end = run_worker(study, train, settings=settings(tries=3))
    assert end == WorkerEnd("complete", (0, 2, 3))
    assert tried == [1, 1, 1]
    trial = read_trials(study)[1]
    assert trial.state == "failed"
    assert trial.reason == "the loss is not finite in step 3, cases a, b"
    assert run_worker(study, train, settings=settings()).trained == ()
    assert len(tried) == 3
    assert retry_failed(study) == [1]
    run_worker(study, train, settings=settings(tries=2))
    assert len(tried) == 5


def test_a_trial_that_comes_further_each_time_is_not_given_up(journal):
    pulse, starts = Pulse(), iter([0, 40, 80, 80, 80])

    def train(index, point):
        if index == 0:
            begin(pulse, next(starts))
            raise OSError("no space left on device")
        return outcome(index, point)

    run_worker(journal, train, pulse=pulse, settings=settings(tries=3))
    trial = read_trials(journal)[0]
    assert (trial.state, trial.attempts) == ("failed", 5)
    assert next(starts, None) is None


def test_workers_that_die_of_a_trial_do_not_all_die(journal):
    undertaker = Undertaker(journal, None, lambda *_: False, grace=-1.0, tries=2)
    foreign_claim(journal, 0)
    undertaker.look()
    assert read_trials(journal)[0].state == "waiting"
    foreign_claim(journal, 0)
    undertaker.look()
    first = read_trials(journal)[0]
    assert (first.state, first.reason) == ("failed", "its worker far-0 died after step 7")


@pytest.mark.parametrize("dice", [float("nan"), float("inf")])
def test_a_dice_that_is_no_number_is_a_failure(journal, dice):
    run_worker(journal, lambda *_: TrialOutcome(dice, "run", 1), settings=settings(tries=1))
    assert {trial.reason for trial in read_trials(journal)} == {
        f"validation Dice: expected a number, got {dice}"
    }


def test_an_interrupted_trial_waits_again_at_once(study):
    def train(index, point):
        if index == 1:
            raise TrialInterrupted("stopped")
        return outcome(index, point)

    assert run_worker(study, train, settings=settings()) == WorkerEnd("interrupted", (0,))
    assert [t.state for t in read_trials(study)] == ["done", "waiting", "waiting", "waiting"]
    assert run_worker(study, outcome, settings=settings(tries=1)).trained == (1, 2, 3)


def test_a_signal_before_the_training_listens_stops_it_nevertheless(journal):
    pulse = Pulse()

    def train(index, point):
        signal.raise_signal(signal.SIGTERM)  # while it is still planned
        with StopSignal() as stop:
            begin(pulse, 0)
            assert stop.asked
        raise TrialInterrupted("stopped")

    end = run_worker(journal, train, pulse=pulse, settings=settings())
    assert end == WorkerEnd("interrupted", ())


def test_a_signal_while_the_trials_are_counted_is_not_lost(journal, monkeypatch):
    def read(study):
        signal.raise_signal(signal.SIGTERM)
        return read_trials(study)

    monkeypatch.setattr(worker, "read_trials", read)
    end = run_worker(journal, outcome, settings=settings())
    assert end == WorkerEnd("interrupted", (0, 1, 2, 3))


def test_a_signal_at_the_end_of_a_training_stops_the_worker(journal):
    def train(index, point):
        with StopSignal():
            signal.raise_signal(signal.SIGTERM)  # too late for this training, which is finished
        return outcome(index, point)

    assert run_worker(journal, train, settings=settings()) == WorkerEnd("interrupted", (0,))


@pytest.mark.parametrize("error", [KeyboardInterrupt, KeyError, SystemExit, *NOT_HERE])
def test_what_stops_the_worker_leaves_no_trial_behind(journal, error):
    def train(index, point):
        raise error("x")

    with pytest.raises(error):
        run_worker(journal, train, settings=settings())
    assert {trial.state for trial in read_trials(journal)} == {"waiting"}
    kind = "released" if error in (KeyboardInterrupt, *NOT_HERE) else "error"
    assert by_point(read_attempts(journal))[0][0].end["kind"] == kind


def test_no_trial_is_used_up_while_there_is_nothing_to_train_on(journal):
    def train(index, point):
        raise NothingToTrainOn("the disk is gone")

    for _ in range(3):
        with pytest.raises(NothingToTrainOn):
            run_worker(journal, train, settings=settings(tries=1))
    assert run_worker(journal, outcome, settings=settings(tries=1)).trained == (0, 1, 2, 3)


def test_a_stale_mount_is_a_store_that_is_gone(monkeypatch):
    def stale(*_, **__):
        raise OSError(errno.ESTALE, "Stale file handle")

    monkeypatch.setattr(os, "stat", stale)
    with pytest.raises(NothingToTrainOn, match="elsewhere: the store is gone"):
        check_there(SimpleNamespace(path=Path("elsewhere")))


def test_a_trial_taken_over_stops_and_leaves_the_result_to_the_other(study):
    pulse, steps = Pulse(), []

    def train(index, point):
        if index == 0 and not steps:
            begin(pulse, 0)
            mine = next(a for a in read_attempts(study) if a.index == 0)
            assert close(study, mine, {"kind": "dead", "reason": "thought dead", "again": True})
            for step in range(1, 1000):
                steps.append(step)
                time.sleep(0.01)
                pulse.step(StepFacts(step, 0.0, 0.0, 0.0, 0.0, 0.0))
        return outcome(index, point)

    end = run_worker(study, train, pulse=pulse, settings=settings())
    assert len(steps) < 999
    assert sorted(end.trained) == [0, 1, 2, 3]
    states = [attempt.state for attempt in by_point(read_attempts(study))[0]]
    assert states == ["closed", "complete"]


def test_what_two_have_added_is_run_once(study):
    attempt = foreign_claim(study, 0)
    assert close(study, attempt, {"kind": "dead", "again": True})
    for _ in range(3):
        add_next(study, attempt)
    trained = []

    def train(index, point):
        trained.append(index)
        return outcome(index, point)

    run_worker(study, train, settings=settings())
    assert sorted(trained) == [0, 1, 2, 3]
    kinds = [a.end.get("kind") for a in read_attempts(study) if a.index == 0]
    assert sorted(kinds, key=str) == [None, "dead", "duplicate", "duplicate"]


def test_what_an_undertaker_left_undone_is_done_by_the_next(study):
    attempt = foreign_claim(study, 0)
    assert close(study, attempt, {"kind": "dead", "again": True})  # and then it died itself
    assert read_trials(study)[0].state == "waiting"
    assert run_worker(study, outcome, settings=settings()).reason == "complete"


def test_a_heart_beats_and_stops(journal):
    pulse, attempt = Pulse(), foreign_claim(journal, 0)
    with Heart(journal, attempt, pulse, every=0.05):
        begin(pulse, 40)
        time.sleep(0.3)
    beats = next(a for a in read_attempts(journal) if a.index == 0).beat
    assert beats["beats"] >= 3
    assert (beats["step"], beats["steps"], beats["began"]) == (40, 100, 40)
    time.sleep(0.15)
    assert next(a for a in read_attempts(journal) if a.index == 0).beat == beats
    assert "heart" not in {thread.name for thread in threading.enumerate()}


def test_a_storage_out_of_reach_does_not_stop_the_heart(journal, monkeypatch):
    pulse, attempt = Pulse(), foreign_claim(journal, 0)
    real, calls = journal._storage.set_trial_user_attr, []

    def flaky(*arguments):
        calls.append(arguments)
        if len(calls) < 3:
            raise OSError("no such server")
        real(*arguments)

    monkeypatch.setattr(journal._storage, "set_trial_user_attr", flaky)
    with Heart(journal, attempt, pulse, every=0.02):
        time.sleep(0.3)
    assert len(calls) > 3
    assert not pulse.lost


@pytest.mark.parametrize(
    ("wishes", "words"),
    [
        ({"beat": 0.0}, "beat and poll above 0"),
        ({"tries": 0}, "tries of 1 or more"),
        ({"grace": float("nan")}, "grace: expected at least three beats of 15 seconds, got nan"),
        ({"beat": 15.0, "grace": 20.0}, "grace: expected at least three beats of 15 seconds"),
    ],
)
def test_settings_that_make_no_sense(wishes, words):
    with pytest.raises(ValueError, match=words):
        WorkerSettings(**wishes)
