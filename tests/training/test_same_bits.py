"""Same seed, same bits: twice, and across an interruption at any step."""

import dataclasses
import signal

import pytest
import torch

from gradsurge.training import Observer, TrainSettings, read_checkpoint, train
from gradsurge.training.observers import MetricsFile
from tests.training.same_state import assert_same, assert_same_run, lines
from tests.training.small_job import SETTINGS, CountingLoss, blend, dice, small_job


class StopAfter(Observer):
    """Asks to stop while a step is being told."""

    def __init__(self, step):
        self.at = step

    def step(self, facts):
        if facts.step == self.at:
            signal.raise_signal(signal.SIGTERM)


def job(folder, settings=SETTINGS, observers=()):
    loss = CountingLoss()
    return small_job(
        folder,
        settings,
        loss=loss,
        before_step=blend(loss),
        observers=(MetricsFile(), *observers),
    )


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory, fabric):
    folder = tmp_path_factory.mktemp("unbroken")
    assert train(job(folder), fabric).reason == "finished"
    return folder


def test_twice(unbroken, fabric, tmp_path):
    torch.rand(7)  # whatever was drawn before
    train(job(tmp_path), fabric)
    assert_same_run(unbroken, tmp_path)


def test_the_seed_matters(unbroken, fabric, tmp_path):
    train(job(tmp_path, dataclasses.replace(SETTINGS, seed=6)), fabric)
    one, other = (read_checkpoint(f / "last.pt").model["0.weight"] for f in (unbroken, tmp_path))
    assert not torch.equal(one, other)


@pytest.mark.parametrize("step", range(1, SETTINGS.steps))
def test_interrupted_after_any_step(unbroken, fabric, tmp_path, step):
    end = train(job(tmp_path, observers=[StopAfter(step)]), fabric)
    assert (end.reason, end.step) == ("interrupted", step)
    assert train(job(tmp_path), fabric).reason == "finished"
    assert_same_run(unbroken, tmp_path)


def test_interrupted_after_every_step(unbroken, fabric, tmp_path):
    for step in range(1, SETTINGS.steps):
        assert train(job(tmp_path, observers=[StopAfter(step)]), fabric).step == step
    train(job(tmp_path), fabric)
    assert_same_run(unbroken, tmp_path)


class Killed(BaseException):
    pass


def test_killed_in_a_validation_validates_again(unbroken, fabric, tmp_path):
    def dies(model, step):
        if step == 8:
            raise Killed
        return dice(model, step)

    broken = dataclasses.replace(job(tmp_path), validate=dies)
    with pytest.raises(Killed):
        train(broken, fabric)
    assert read_checkpoint(tmp_path / "last.pt").step == 8  # saved before: no step is lost
    train(job(tmp_path), fabric)
    assert_same_run(unbroken, tmp_path)


def test_killed_between_line_and_checkpoint(unbroken, fabric, tmp_path):
    class Dies(Observer):
        def validated(self, step, scores, best):
            if step == 8:
                raise Killed

    with pytest.raises(Killed):
        train(job(tmp_path, observers=[Dies()]), fabric)
    with (tmp_path / "metrics.jsonl").open("a") as file:
        file.write('{"kind": "step", "st')
    train(job(tmp_path), fabric)
    assert_same_run(unbroken, tmp_path)


def test_a_finished_run_stays_as_it_is(unbroken, fabric, tmp_path):
    train(job(tmp_path), fabric)
    before = (tmp_path / "last.pt").stat().st_mtime_ns
    end = train(job(tmp_path), fabric)
    assert (end.reason, end.step) == ("finished", SETTINGS.steps)
    assert (tmp_path / "last.pt").stat().st_mtime_ns == before
    assert_same_run(unbroken, tmp_path)


def test_anew_forgets_everything(unbroken, fabric, tmp_path):
    train(job(tmp_path, observers=[StopAfter(5)]), fabric)
    train(job(tmp_path), fabric, resume=False)
    assert_same_run(unbroken, tmp_path)
    assert [line["step"] for line in lines(tmp_path) if line["kind"] == "step"] == list(
        range(1, SETTINGS.steps + 1)
    )


def test_validation_does_not_touch_the_training(unbroken, fabric, tmp_path):
    def draws(model, step):
        torch.rand(100)
        return dice(model, step)

    other = dataclasses.replace(job(tmp_path), validate=draws)
    train(other, fabric)
    assert_same_run(unbroken, tmp_path)


@pytest.mark.parametrize("optimiser", ["sgd", "adamw"])
@pytest.mark.parametrize("precision", ["16-mixed", "bf16-mixed"])
def test_mixed_precision_resumes(tmp_path, optimiser, precision):
    """Fabric refuses float16 on CPUs by name; given as a plugin it works, scaler and all."""
    from lightning_fabric import Fabric
    from lightning_fabric.plugins import MixedPrecision

    def mixed():
        plugin = MixedPrecision(precision, device="cpu")
        return Fabric(accelerator="cpu", devices=1, plugins=plugin)

    settings = TrainSettings(
        steps=4, optimiser=optimiser, learning_rate=1e-3, validate_every=2, checkpoint_every=9
    )
    one, other = tmp_path / "one", tmp_path / "other"
    train(job(one, settings), mixed())
    train(job(other, settings, observers=[StopAfter(3)]), mixed())
    train(job(other, settings), mixed())
    assert_same_run(one, other)
    scaler = read_checkpoint(one / "last.pt").scaler
    assert bool(scaler) == (precision == "16-mixed")


def test_random_numbers_outside_are_left_alone(fabric, tmp_path):
    before = torch.get_rng_state()
    train(job(tmp_path, TrainSettings(steps=2)), fabric)
    assert_same(torch.get_rng_state(), before)
    assert not torch.are_deterministic_algorithms_enabled()
