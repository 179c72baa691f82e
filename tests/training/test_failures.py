"""Lost data, a full disk, a loss that is not finite: one clear line, and the last good state."""

import dataclasses
import errno
import math
import os
import resource
import signal

import pytest
from torch import nn

from gradsurge.training import NonFiniteError, Observer, TrainingError, desk, read_checkpoint, train
from gradsurge.training.observers import MetricsFile, TensorBoard
from tests.training.same_state import assert_same, assert_same_run
from tests.training.small_job import CountingLoss, batch, batches, small_job, small_model


def failing_batches(number, error):
    def until(start):
        for i, made in enumerate(batches(start)):
            if start + i == number:
                raise error
            yield made

    return until


@pytest.mark.parametrize(
    "error",
    [
        ValueError("case_7: image.b2nd: damaged (its checksum differs)\nrun prepare"),
        FileNotFoundError(errno.ENOENT, "No such file", "store/case_7"),
        RuntimeError("DataLoader worker (pid 7) is killed by signal: Killed."),
    ],
)
def test_lost_data(fabric, tmp_path, error):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    train(small_job(whole, observers=[MetricsFile()]), fabric)
    lost = failing_batches(11, error)
    with pytest.raises(
        TrainingError, match=r"no data for step 6: .*last.pt holds step 5"
    ) as caught:
        train(small_job(broken, batches=lost, observers=[MetricsFile()]), fabric)
    assert "\n" not in str(caught.value)
    assert str(error).split()[0] in str(caught.value)
    train(small_job(broken, observers=[MetricsFile()]), fabric)
    assert_same_run(whole, broken)


def test_data_that_end(fabric, tmp_path):
    def short(start):
        return iter([batch(start + i) for i in range(5)])

    with pytest.raises(TrainingError, match=r"the batches ended before step 3; .*holds step 2"):
        train(small_job(tmp_path, batches=short), fabric)


def test_no_data_at_all(fabric, tmp_path):
    def refuses(start):
        raise ValueError("cases: expected at least one, got none")

    with pytest.raises(TrainingError, match="no data for step 1: cases: expected at least one"):
        train(small_job(tmp_path, batches=refuses), fabric)


def test_lost_data_in_validation(fabric, tmp_path):
    def lost(model, step):
        raise OSError("case_9: gone")

    with pytest.raises(TrainingError, match=r"validation after step 4: case_9: gone; .*step 4"):
        train(small_job(tmp_path, validate=lost), fabric)
    assert train(small_job(tmp_path), fabric).reason == "finished"


class LimitFileSize(Observer):
    """From a step on the system refuses longer files, as a full disk would."""

    def __init__(self, step, size):
        self.at, self.size = step, size

    def step(self, facts):
        if facts.step == self.at:
            resource.setrlimit(resource.RLIMIT_FSIZE, (self.size, resource.RLIM_INFINITY))


@pytest.fixture
def unlimited():
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


def test_what_killed_writers_left_is_removed(fabric, tmp_path):
    for name in (".last.pt.new", ".best.pt.elsewhere.7.new", ".metrics.jsonl.elsewhere.7.new"):
        (tmp_path / name).write_text("half of it")
    train(small_job(tmp_path, observers=[MetricsFile()]), fabric)
    assert not list(tmp_path.glob(".*.new"))


@pytest.mark.parametrize("size", [0, 1, 1000, 3000])
def test_full_disk(fabric, tmp_path, unlimited, size):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    train(small_job(whole, observers=[MetricsFile()]), fabric)
    observers = [MetricsFile(), LimitFileSize(4, size)]
    with pytest.raises(TrainingError, match=r"File too large; .*last\.pt holds step 3") as caught:
        train(small_job(broken, observers=observers), fabric)
    assert "\n" not in str(caught.value)
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert read_checkpoint(broken / "last.pt").step == 3
    assert not list(broken.glob(".last.pt*"))
    train(small_job(broken, observers=[MetricsFile()]), fabric)
    assert_same_run(whole, broken)


def test_full_disk_while_the_best_is_written(fabric, tmp_path, monkeypatch):
    """The best weights come again when the run goes on; a last.pt that knew them would not."""
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    train(small_job(whole, observers=[MetricsFile()]), fabric)
    write, best = desk.write_checkpoint, read_checkpoint(whole / "best.pt").step

    def full(file, checkpoint):
        if file.name == "best.pt" and checkpoint.step == best:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(file))
        write(file, checkpoint)

    with monkeypatch.context() as patched:
        patched.setattr(desk, "write_checkpoint", full)
        message = rf"best\.pt: No space left on device; .*last\.pt holds step {best}: resume"
        with pytest.raises(TrainingError, match=message):
            train(small_job(broken, observers=[MetricsFile()]), fabric)
    assert read_checkpoint(broken / "last.pt").validated < best
    train(small_job(broken, observers=[MetricsFile()]), fabric)
    assert_same_run(whole, broken)


def test_tensorboard_that_cannot_start_leaves_the_error_to_be_told(fabric, tmp_path):
    (tmp_path / "tensorboard").write_text("a file in the way")
    with pytest.raises(TrainingError, match=r"tensorboard/.*: Not a directory"):
        train(small_job(tmp_path, observers=[TensorBoard(every=1)]), fabric)


def test_full_disk_in_the_last_save(fabric, tmp_path, monkeypatch):
    settings = dataclasses.replace(small_job(tmp_path).settings, checkpoint_every=100)

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(TrainingError, match="No space left on device; no step was saved yet"):
        train(small_job(tmp_path, settings, validate=None), fabric)


class Poisoned(CountingLoss):
    def forward(self, logits, label):
        loss = super().forward(logits, label)
        return loss * math.nan if self.weight == 7 else loss


def test_loss_that_is_not_finite(fabric, tmp_path):
    loss = Poisoned()
    job = small_job(tmp_path, loss=loss, before_step=lambda step: setattr(loss, "weight", step))
    with pytest.raises(NonFiniteError, match="loss is not finite in step 8, cases case_14_0, case"):
        train(job, fabric)
    kept = read_checkpoint(tmp_path / "nonfinite.pt")
    assert kept.step == 7
    assert kept.notes["cases"] == batch(14)["case"] + batch(15)["case"]
    assert math.isnan(kept.notes["loss"])
    assert all(value.isfinite().all() for value in kept.model.values())
    assert read_checkpoint(tmp_path / "last.pt").step == 6

    seven = dataclasses.replace(job.settings, steps=12)
    stopped = small_job(tmp_path / "seven", seven, batches=failing_batches(14, OSError("stop")))
    stopped = dataclasses.replace(
        stopped, before_step=lambda step: setattr(stopped.loss, "weight", step)
    )
    with pytest.raises(TrainingError):
        train(stopped, fabric)
    before = read_checkpoint(tmp_path / "seven" / "last.pt").model
    learnt = [name for name, _ in small_model().named_parameters()]
    assert_same({n: kept.model[n] for n in learnt}, {n: before[n] for n in learnt})


class SteepRoot(nn.Module):
    """Finite, with an infinite gradient at 0."""

    def forward(self, logits, label):
        return (logits * 0.0).abs().sum().sqrt() + logits.mean() * 0


def test_gradient_that_is_not_finite(fabric, tmp_path):
    with pytest.raises(NonFiniteError, match="the gradient is not finite in step 1"):
        train(small_job(tmp_path, loss=SteepRoot()), fabric)
    assert (tmp_path / "nonfinite.pt").exists()


def test_scores_without_dice(fabric, tmp_path):
    with pytest.raises(TrainingError, match="expected scores with 'dice', got"):
        train(small_job(tmp_path, validate=lambda model, step: {"nll": 1.0}), fabric)


def test_observers_are_told_of_a_failure(fabric, tmp_path):
    ends = []

    class Listens(Observer):
        def stopped(self, end):
            ends.append((end.reason, end.step))

    job = small_job(tmp_path, batches=failing_batches(6, OSError("lost")), observers=[Listens()])
    with pytest.raises(TrainingError):
        train(job, fabric)
    assert ends == [("failed", 3)]


def test_other_settings_do_not_resume(fabric, tmp_path):
    job = small_job(tmp_path)
    train(job, fabric)
    changed = dataclasses.replace(job.settings, learning_rate=0.5)
    with pytest.raises(ValueError, match=r"learning_rate: .* with 0.05, got 0.5; use the same"):
        train(small_job(tmp_path, changed), fabric)
    rarer = dataclasses.replace(job.settings, checkpoint_every=50)
    assert train(small_job(tmp_path, rarer), fabric).reason == "finished"


def test_another_model_does_not_resume(fabric, tmp_path):
    train(small_job(tmp_path), fabric)
    with pytest.raises(ValueError, match="weights are of another model or loss") as caught:
        train(small_job(tmp_path, model=nn.Conv2d(1, 2, 3, padding=1)), fabric)
    assert "\n" not in str(caught.value)


def test_damaged_last_names_best(fabric, tmp_path):
    train(small_job(tmp_path, observers=[MetricsFile()]), fabric)
    last, best = tmp_path / "last.pt", tmp_path / "best.pt"
    last.write_bytes(last.read_bytes()[:-500])
    step = read_checkpoint(best).step
    with pytest.raises(ValueError, match=rf"last.pt: damaged.*best.pt holds step {step}: copy it"):
        train(small_job(tmp_path), fabric)
    last.unlink()
    with pytest.raises(ValueError, match=rf"last.pt: missing; .*best.pt holds step {step}: copy"):
        train(small_job(tmp_path), fabric)
    whole = tmp_path / "whole"
    train(small_job(whole, observers=[MetricsFile()]), fabric)
    last.write_bytes(best.read_bytes())
    train(small_job(tmp_path, observers=[MetricsFile()]), fabric)
    assert_same_run(whole, tmp_path)
    for file in (last, best):
        file.write_bytes(b"PK\x03\x04nonsense")
    with pytest.raises(ValueError, match=r"best.pt is damaged, too"):
        train(small_job(tmp_path), fabric)
    best.unlink()
    with pytest.raises(ValueError, match=r"there is no best.pt"):
        train(small_job(tmp_path), fabric)


def test_nan_dice_is_never_best(fabric, tmp_path):
    def scores(model, step):
        return {"dice": math.nan if step < 8 else 0.5}

    end = train(small_job(tmp_path, validate=scores), fabric)
    assert (end.best.dice, end.best.step) == (0.5, 8)  # and not 12, which is no better
    assert read_checkpoint(tmp_path / "best.pt").step == 8
