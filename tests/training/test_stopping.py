"""Signals: finish the step, save, say how to go on."""

import signal
import threading
import time
from dataclasses import replace

import pytest

from gradsurge.training import Observer, TrainingError, read_checkpoint, train
from gradsurge.training.observers import MetricsFile, PlainLines
from gradsurge.training.signals import StopSignal
from tests.training.same_state import assert_same_run
from tests.training.small_job import SETTINGS, batches, small_job


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_while_waiting_for_data_saves(fabric, tmp_path, capsys, number):
    def interrupted(start):
        for i, batch in enumerate(batches(start)):
            if start + i == 11:  # the second batch of the sixth step
                signal.raise_signal(number)
            yield batch

    handlers = [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)]
    end = train(small_job(tmp_path, batches=interrupted, observers=[PlainLines()]), fabric)
    assert (end.reason, end.step) == ("interrupted", 5)
    assert read_checkpoint(tmp_path / "last.pt").step == 5
    said = capsys.readouterr().err
    assert f"saved in {tmp_path / 'last.pt'}" in said
    assert "--resume" in said
    assert [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)] == handlers


def test_workers_killed_along_are_no_error(fabric, tmp_path):
    def killed(start):
        yield from (batch for batch, _ in zip(batches(start), range(4), strict=False))
        signal.raise_signal(signal.SIGTERM)
        raise RuntimeError("DataLoader worker (pid 7) is killed by signal: Terminated.")

    end = train(small_job(tmp_path, batches=killed), fabric)
    assert (end.reason, end.step) == ("interrupted", 2)


def test_a_worker_that_dies_within_a_step_does_not_tear_it(fabric, tmp_path):
    """As a DataLoader does: the death of a worker raises wherever the main process is."""

    def died(*_):
        raise RuntimeError("DataLoader worker (pid 7) is killed by signal: Terminated.")

    def watched(start):
        signal.signal(signal.SIGCHLD, died)
        yield from batches(start)

    def kill_all(step):
        if step == 5:
            for number in numbers:
                signal.raise_signal(number)

    before = signal.getsignal(signal.SIGCHLD)
    try:
        numbers = [signal.SIGTERM, signal.SIGCHLD]
        job = small_job(tmp_path / "stopped", batches=watched, before_step=kill_all)
        end = train(job, fabric)
        assert (end.reason, end.step) == ("interrupted", 6)
        assert signal.getsignal(signal.SIGCHLD) is died
        numbers = [signal.SIGCHLD]  # by the system, for want of memory
        job = small_job(tmp_path / "lost", batches=watched, before_step=kill_all)
        with pytest.raises(TrainingError, match=r"step 7: .*killed by signal.*holds step 6"):
            train(job, fabric)
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_a_second_ctrl_c_stops_at_once(fabric, tmp_path):
    whole = tmp_path / "whole"
    train(small_job(whole, observers=[MetricsFile()]), fabric)

    class Impatient(Observer):
        def step(self, facts):
            if facts.step == 7:
                signal.raise_signal(signal.SIGINT)
                signal.raise_signal(signal.SIGINT)  # torchrun's echo of the first
                time.sleep(0.6)
                signal.raise_signal(signal.SIGINT)

    broken = tmp_path / "broken"
    with pytest.raises(KeyboardInterrupt):
        train(small_job(broken, observers=[MetricsFile(), Impatient()]), fabric)
    assert read_checkpoint(broken / "last.pt").step == 6
    train(small_job(broken, observers=[MetricsFile()]), fabric)
    assert_same_run(whole, broken)


def test_in_a_thread_it_trains_without_handlers(fabric, tmp_path):
    ends = []
    thread = threading.Thread(target=lambda: ends.append(train(small_job(tmp_path), fabric)))
    thread.start()
    thread.join(60)
    assert ends[0].reason == "finished"


def test_handlers_come_back_after_an_error():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ZeroDivisionError), StopSignal():
        raise ZeroDivisionError
    assert signal.getsignal(signal.SIGINT) is before


def test_asked_in_the_last_step_it_validates_when_resumed(fabric, tmp_path):
    class Late(Observer):
        def step(self, facts):
            if facts.step == SETTINGS.steps:
                signal.raise_signal(signal.SIGTERM)

    end = train(small_job(tmp_path, observers=[Late()]), fabric)
    assert (end.reason, end.step) == ("interrupted", SETTINGS.steps)
    end = train(small_job(tmp_path, batches=None), fabric)  # no further batch is needed
    assert end.reason == "finished"
    assert read_checkpoint(tmp_path / "last.pt").validated == SETTINGS.steps


def test_a_signal_in_the_last_validation_reaches_whoever_would_train_the_next(fabric, tmp_path):
    class Late(Observer):
        def validated(self, step, scores, best):
            signal.raise_signal(signal.SIGTERM)

    last = replace(SETTINGS, validate_every=SETTINGS.steps)
    with StopSignal() as outer:
        end = train(small_job(tmp_path, last, observers=[Late()]), fabric)
    assert end.reason == "finished"
    assert outer.asked


def test_a_ctrl_c_inside_counts_as_the_first_one_outside(monkeypatch):
    now = [10.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    with StopSignal() as outer:
        with StopSignal():
            signal.raise_signal(signal.SIGINT)
        assert outer.asked
        now[0] += 5.0
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_without_a_signal_nobody_is_told_of_one():
    with StopSignal() as outer, StopSignal():
        pass
    assert not outer.asked
