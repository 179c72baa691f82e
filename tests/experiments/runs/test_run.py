"""Whole runs on small stores: what they learn, leave behind, and go on from."""

import json
import math
import os
import shutil
import signal
from collections.abc import Mapping
from dataclasses import replace

import pytest
import torch

from gradsurge.data.store import Store
from gradsurge.experiments.runs import (
    RunRequest,
    SurgerySchedule,
    model_of,
    open_run,
    plan_run,
    train_run,
)
from gradsurge.experiments.runs.history import read_history
from gradsurge.experiments.runs.run_folder import only_trainer
from gradsurge.training import NoCompilerError, Observer, read_checkpoint
from gradsurge.training.observers import MetricsFile
from tests.experiments.runs.stores import disc_store

QUICK = {
    "patch": (16, 16),
    "patches": {"batch": 2},
    "augmentation": "none",
    "training": {"steps": 6, "validate_every": 3, "checkpoint_every": 3, "momentum": 0.9},
}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return disc_store(tmp_path_factory.mktemp("runs"))


def plan(store, loss="dice-surgery", **wishes):
    return plan_run(store, RunRequest(loss, **{**QUICK, **wishes}))


def equal(one, other):
    """To the last bit, tensors and plain values at any depth."""
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    if isinstance(one, Mapping):
        return one.keys() == other.keys() and all(equal(one[k], other[k]) for k in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(equal, one, other))
    return one == other


def same_checkpoint(one, other):
    return equal(*(vars(read_checkpoint(path / "best.pt")) for path in (one, other)))


class StopAfter(Observer):
    """Sends SIGTERM after a step, as a cluster does."""

    def __init__(self, step):
        self.at = step

    def step(self, facts):
        if facts.step == self.at:
            os.kill(os.getpid(), signal.SIGTERM)


@pytest.fixture(scope="module")
def unbroken(store, tmp_path_factory):
    out = tmp_path_factory.mktemp("unbroken") / "run"
    result = train_run(plan(store), out, observers=[MetricsFile()])
    assert result.state == "finished"
    return out


def test_a_run_leaves_all_it_knows(store, unbroken):
    names = {file.name for file in unbroken.iterdir()}
    assert names >= {"config.json", "last.pt", "best.pt", "outcome.json", "validation.npz"}
    run = open_run(unbroken)
    assert set(run.corrections) == {"equilibrium", "bias", "temperature"}
    assert run.default_correction in ("none", "equilibrium")
    assert set(run.thresholds) == {"none", *run.corrections}
    assert run.sketch().voxels == 2 * 24 * 24
    assert run.sketch().nll() == run.outcome.scores["none"].nll
    history = read_history(unbroken)
    assert history.steps == [1, 2, 3, 4, 5, 6]
    assert [v.step for v in history.validations] == [3, 6]
    json.dumps(history.to_json(), allow_nan=False)


def test_a_run_needs_no_store_to_predict(store, unbroken, tmp_path):
    shutil.copytree(unbroken, tmp_path / "moved")
    run = open_run(tmp_path / "moved")
    model = run.model()
    assert not model.training
    with torch.no_grad():
        logits = model(torch.zeros(1, 1, 16, 16))
    assert logits.shape == (1, 2, 16, 16)
    assert run.config.dataset.label_names == store.dataset.label_names


def test_the_score_at_the_end_is_that_of_the_best_validation(unbroken):
    best = [v for v in read_history(unbroken).validations if v.best][-1]
    end = open_run(unbroken).outcome
    assert end.step == best.step
    assert end.scores["none"].dice == pytest.approx(best.scores["dice"])
    assert end.scores["none"].nll == pytest.approx(best.scores["nll"])


@pytest.mark.parametrize("step", [1, 3, 5])
def test_an_interrupted_run_goes_on_to_the_same_bits(store, unbroken, tmp_path, step):
    out = tmp_path / "run"
    result = train_run(plan(store), out, observers=[MetricsFile(), StopAfter(step)])
    assert (result.state, result.step, result.outcome) == ("interrupted", step, None)
    with pytest.raises(ValueError, match="did not finish; go on with"):
        open_run(out)
    again = train_run(plan(store), out, resume=True, observers=[MetricsFile()])
    assert again.state == "finished"
    assert same_checkpoint(out, unbroken)
    assert (out / "outcome.json").read_bytes() == (unbroken / "outcome.json").read_bytes()
    assert read_history(out).losses == read_history(unbroken).losses


def test_an_interrupted_end_is_made_again(store, unbroken, tmp_path):
    out = tmp_path / "run"
    shutil.copytree(unbroken, out)
    (out / "outcome.json").unlink()
    shutil.rmtree(out / "recalibration")
    assert train_run(plan(store), out, resume=True).state == "finished"
    assert (out / "outcome.json").read_bytes() == (unbroken / "outcome.json").read_bytes()
    assert (out / "recalibration" / "equilibrium.json").exists()


def test_a_finished_run_is_left_alone(store, unbroken):
    before = (unbroken / "last.pt").stat().st_mtime_ns
    result = train_run(plan(store), unbroken, resume=True)
    assert result.state == "complete"
    assert result.outcome == open_run(unbroken).outcome
    assert (unbroken / "last.pt").stat().st_mtime_ns == before


def test_a_finished_run_needs_no_compiler(store, unbroken, tmp_path, monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    compiled = plan(store, training={**QUICK["training"], "compile": True})
    with pytest.raises(NoCompilerError):
        train_run(compiled, tmp_path / "new")
    assert not (tmp_path / "new").exists()
    out = tmp_path / "run"
    shutil.copytree(unbroken, out)
    config = json.loads((out / "config.json").read_text())
    config["training"]["compile"] = True  # as if it had been trained so where there was one
    (out / "config.json").write_text(json.dumps(config))
    assert train_run(compiled, out, resume=True).state == "complete"


def test_surgery_sets_in_at_its_step(store, tmp_path, monkeypatch):
    seen = []
    from gradsurge.losses.region import RegionLoss

    forward = RegionLoss.forward

    def noting(self, *arguments):
        seen.append(self.blend)
        return forward(self, *arguments)

    monkeypatch.setattr(RegionLoss, "forward", noting)
    config = plan(store, surgery=SurgerySchedule(0.5, 0.5))
    train_run(config, tmp_path / "switch", observers=[MetricsFile()])
    assert seen == [0.0] * 3 + [1.0] * 3
    first, last = read_history(tmp_path / "switch").validations
    assert not first.best
    assert "dice" in first.scores
    assert last.best
    run = open_run(tmp_path / "switch")
    assert run.outcome.step == 6
    assert "equilibrium" in run.corrections
    seen.clear()
    train_run(plan(store, surgery=SurgerySchedule(0.0, 0.5)), tmp_path / "ramp")
    assert seen == pytest.approx([0.0, 1 / 3, 2 / 3, 1.0, 1.0, 1.0])


def test_fine_tuning_starts_from_the_weights_of_a_run(store, unbroken, tmp_path):
    training = {"steps": 1, "validate_every": 1, "learning_rate": 1e-12}
    config = plan_run(
        store,
        RunRequest("ce+dice-surgery", training=training, patches={"batch": 2}, init=unbroken),
    )
    assert config.model == open_run(unbroken).config.model
    train_run(config, tmp_path / "run")
    before, after = (read_checkpoint(p / "best.pt").model for p in (unbroken, tmp_path / "run"))
    assert all(torch.allclose(before[name], after[name], atol=1e-6) for name in before)


def test_fine_tuning_refuses_what_does_not_fit(store, unbroken, tmp_path):
    with pytest.raises(ValueError, match=r"init: .*not a run"):
        plan(store, init=tmp_path)
    for missing in ("outcome.json", "best.pt"):
        shutil.copytree(unbroken, tmp_path / missing)
        (tmp_path / missing / missing).unlink()
        with pytest.raises(ValueError, match=r"init: .*its training did not finish"):
            plan(store, init=tmp_path / missing, patch=None)
    with pytest.raises(ValueError, match=r"patch is \(16, 16\)"):
        plan(store, init=unbroken, patch=(24, 24))
    other = disc_store(tmp_path, classes=2)
    with pytest.raises(ValueError, match="init: that run has 1 image channels and 2 softmax"):
        plan(other, init=unbroken)


@pytest.mark.parametrize(
    ("labels", "loss", "kind", "channels"),
    [
        ({"classes": 2}, "ce+dice-surgery", "multiclass", 3),
        ({"classes": 2, "regions": True}, "ce+dice-surgery", "multilabel", 2),
        ({"ignore": True}, "dice-surgery", "binary", 2),
        ({"classes": 2, "regions": True, "ignore": True}, "dice-surgery", "multilabel", 2),
        ({"classes": 2, "ignore": True}, "ce", "multiclass", 3),
    ],
)
def test_every_kind_of_label_is_learnt(tmp_path, labels, loss, kind, channels):
    store = disc_store(tmp_path, **labels)
    training = {**QUICK["training"], "steps": 2, "validate_every": 2}
    result = train_run(plan(store, loss, training=training), tmp_path / "run")
    run = open_run(tmp_path / "run")
    assert run.task.kind == kind
    assert run.config.model.out_channels == channels
    assert len(run.thresholds["none"]) == len(run.task.names)
    assert ("equilibrium" in run.corrections) == loss.endswith("-surgery")
    voxels = 2 * 24 * (21 if labels.get("ignore") else 24)
    assert run.sketch().voxels == voxels
    assert result.outcome.cases == 2


def test_deep_supervision_switches_at_all_levels(store, tmp_path):
    config = plan(
        store,
        patch=(32, 32),
        model_options={"deep_supervision": True, "features": 4},
        surgery=SurgerySchedule(0.5, 0.5),
    )
    assert config.model.options["deep_supervision"]
    train_run(config, tmp_path / "run")
    run = open_run(tmp_path / "run")
    assert "equilibrium" in run.corrections
    with torch.no_grad():
        assert run.model()(torch.zeros(1, 1, 32, 32)).shape == (1, 2, 32, 32)


def test_a_constant_blend_has_no_equilibrium_and_says_so(store, tmp_path):
    training = {"steps": 1, "validate_every": 1}
    config = plan(store, loss_options={"blend": 0.5}, training=training)
    outcome = train_run(config, tmp_path / "run").outcome
    assert "equilibrium" not in outcome.scores
    assert any("blend 0.5" in note for note in outcome.notes)


def test_a_model_learns(store, tmp_path):
    training = {"steps": 60, "validate_every": 60, "learning_rate": 0.05, "momentum": 0.9}
    config = plan(store, "ce+dice-surgery", training=training)
    outcome = train_run(config, tmp_path / "run").outcome
    assert outcome.scores["none"].dice > 0.6


def test_a_subset_of_cases_while_training_all_of_them_at_the_end(store, tmp_path):
    training = {"steps": 1, "validate_every": 1}
    looks = []
    config = plan(store, training=training, validation_cases=1)
    result = train_run(config, tmp_path / "run", on_look=looks.append)
    assert result.outcome.cases == 2
    assert len(looks) == 1


def test_a_store_that_is_gone_is_said(store, tmp_path):
    config = replace(plan(store), store=str(tmp_path / "gone"))
    with pytest.raises(ValueError, match="not a store"):
        train_run(config, tmp_path / "run")


def test_more_processes_than_patches_are_refused(store, tmp_path, monkeypatch):
    from gradsurge.experiments.runs import run as module

    class Fabric:
        global_rank, world_size, device = 0, 3, torch.device("cpu")
        is_global_zero = True

    monkeypatch.setattr(module, "make_fabric", lambda *_: Fabric())
    with pytest.raises(ValueError, match="2 patches cannot be divided evenly among 3 processes"):
        train_run(plan(store), tmp_path / "run")
    four = plan(store, patches={"batch": 4})  # 2, 1 and 1: their mean is not that of the four
    with pytest.raises(ValueError, match="4 patches cannot be divided evenly among 3 processes"):
        train_run(four, tmp_path / "run")


def test_a_moved_store_and_another_directory(store, unbroken, tmp_path, monkeypatch):
    """Paths are kept whole, and a run that goes on reads the store where it is now."""
    shutil.copytree(store.path, tmp_path / "first")
    monkeypatch.chdir(tmp_path)
    config = plan(Store.open("first"))
    assert config.store == str(tmp_path / "first")
    train_run(config, tmp_path / "run", observers=[MetricsFile(), StopAfter(3)])
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "first").rename(tmp_path / "elsewhere" / "second")
    monkeypatch.chdir(tmp_path / "elsewhere")
    again = train_run(
        plan(Store.open("second")), tmp_path / "run", resume=True, observers=[MetricsFile()]
    )
    assert again.state == "finished"
    assert again.config.store == str(tmp_path / "elsewhere" / "second")
    assert read_history(tmp_path / "run").losses == read_history(unbroken).losses


def test_checkpoints_may_come_more_often_when_a_run_goes_on(store, unbroken, tmp_path):
    train_run(plan(store), tmp_path / "run", observers=[StopAfter(1)])
    often = {**QUICK["training"], "checkpoint_every": 1}
    result = train_run(plan(store, training=often), tmp_path / "run", resume=True)
    assert result.config.training.checkpoint_every == 1
    one, other = (read_checkpoint(p / "best.pt").model for p in (tmp_path / "run", unbroken))
    assert equal(one, other)


def test_a_run_without_a_dice_says_so(store, tmp_path, monkeypatch):
    from gradsurge.experiments.runs.validation import Validation

    monkeypatch.setattr(Validation, "__call__", lambda *_: {"dice": math.nan})
    with pytest.raises(ValueError, match=r"best\.pt: missing; no validation had a Dice"):
        train_run(plan(store), tmp_path / "run")


def test_a_second_training_is_kept_out_before_it_starts(store, tmp_path):
    train_run(plan(store), tmp_path / "run", observers=[StopAfter(1)])
    with only_trainer(tmp_path / "run"), pytest.raises(ValueError, match="is at work there"):
        train_run(plan(store), tmp_path / "run", resume=True)


def test_a_folder_that_cannot_be_made_is_one_line(store, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match=r"file/run: Not a directory"):
        train_run(plan(store), tmp_path / "file" / "run")


def test_a_model_is_rebuilt_from_a_checkpoint_alone(unbroken, tmp_path):
    shutil.copy(unbroken / "best.pt", tmp_path / "sent.pt")
    model = model_of(read_checkpoint(tmp_path / "sent.pt"))
    image = torch.randn(1, 1, 16, 16)
    with torch.no_grad():
        assert torch.equal(model(image), open_run(unbroken).model()(image))
    strange = replace(read_checkpoint(tmp_path / "sent.pt"), config={"name": "something"})
    with pytest.raises(ValueError, match="not the configuration"):
        model_of(strange)


def test_the_average_of_a_late_surgery_holds_no_plain_weights(store, tmp_path):
    """Two of six steps are surgery, and the average begins at the first of them."""
    training = {**QUICK["training"], "ema": 0.9}
    config = plan(store, surgery=SurgerySchedule(0.6, 0.6), training=training)
    train_run(config, tmp_path / "run", observers=[StopAfter(4)])
    four = read_checkpoint(tmp_path / "run" / "last.pt")
    assert equal(four.ema, four.model)
    train_run(config, tmp_path / "run", resume=True)
    six = read_checkpoint(tmp_path / "run" / "last.pt")
    assert not equal(six.ema, six.model)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        ("missing", "did not finish; go on with"),
        ("empty", r"best\.pt: damaged"),
        ("half", r"best\.pt: damaged"),
    ],
)
def test_a_damaged_run_is_one_line(unbroken, tmp_path, damage, words):
    out = tmp_path / "run"
    shutil.copytree(unbroken, out)
    best = out / "best.pt"
    content = {"missing": None, "empty": b"", "half": best.read_bytes()[:500]}[damage]
    best.unlink()
    if content is not None:
        best.write_bytes(content)
    with pytest.raises(ValueError, match=words):
        open_run(out)
    with pytest.raises(ValueError, match="not a run of gradsurge train"):
        open_run(tmp_path)
    with pytest.raises(ValueError, match="nowhere: not a run: there is no such folder"):
        open_run(tmp_path / "nowhere")
