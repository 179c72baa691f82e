"""One budget for all losses, and a folder that knows which demo it holds."""

import json
from dataclasses import replace

import pytest

from gradsurge.experiments.demo.compared import LOSSES
from gradsurge.experiments.demo.folder import enter_folder, keep_data, only_demo
from gradsurge.experiments.demo.plan import PRESETS, plan_phantoms, plan_real, smoke
from gradsurge.experiments.demo.run import run_demo
from tests.experiments.prediction.fakes import raw_tree


@pytest.mark.parametrize("preset", PRESETS)
def test_only_the_loss_differs_between_trainings(preset):
    requests = [plan_phantoms(preset, 3).of_loss(loss) for loss in LOSSES]
    assert [request.loss for request in requests] == ["ce", "dice", "dice-surgery"]
    assert {json.dumps(vars(replace(r, loss="")), default=str) for r in requests} == {
        json.dumps(vars(replace(requests[0], loss="")), default=str)
    }
    assert requests[0].training["seed"] == 3
    assert requests[0].loss_options == {}


def test_steps_are_those_asked_for():
    assert plan_phantoms("2d", 0, 7).of_loss("ce").training["steps"] == 7
    assert plan_phantoms("2d", 0).of_loss("ce").training["steps"] > 100


def test_the_steps_that_would_be_taken_anyway_are_the_same_demo(tmp_path):
    assert plan_phantoms("2d", 0, 800) == plan_phantoms("2d", 0)
    assert plan_phantoms("3d", 0, 400) == plan_phantoms("3d", 0)
    assert plan_real(tmp_path, 0, 800) == plan_real(tmp_path, 0)
    assert plan_real(tmp_path, 0, 801) != plan_real(tmp_path, 0)


def test_an_unknown_preset_is_refused():
    with pytest.raises(ValueError, match="preset: unknown '4d'; known: 2d, 3d"):
        plan_phantoms("4d", 0)


def test_plans_survive_json(tmp_path):
    for plan in (plan_phantoms("3d", 1), smoke(plan_phantoms("2d", 0)), plan_real(tmp_path, 0)):
        assert plan.differs_from(json.loads(json.dumps(plan.to_json()))) is None


def test_the_same_demo_goes_on_and_another_does_not(tmp_path):
    plan = plan_phantoms("2d", 0)
    enter_folder(tmp_path / "demo", plan, overwrite=False)
    (tmp_path / "demo" / "runs").mkdir()
    enter_folder(tmp_path / "demo", plan, overwrite=False)
    with pytest.raises(ValueError, match=r"with --seed 0, got 1; .*--overwrite"):
        enter_folder(tmp_path / "demo", plan_phantoms("2d", 1), overwrite=False)
    with pytest.raises(ValueError, match="with --steps 800, got 5"):
        enter_folder(tmp_path / "demo", plan_phantoms("2d", 0, 5), overwrite=False)
    assert (tmp_path / "demo" / "runs").exists()


def test_overwriting_removes_the_older_demo_and_nothing_else(tmp_path):
    enter_folder(tmp_path, plan_phantoms("2d", 0), overwrite=False)
    for name in ("runs", "store"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "old").write_text("old")
    (tmp_path / "mine.txt").write_text("mine")
    enter_folder(tmp_path, plan_phantoms("2d", 1), overwrite=True)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["demo.json", "mine.txt"]
    enter_folder(tmp_path, plan_phantoms("2d", 1), overwrite=False)


def test_models_of_other_data_are_not_gone_on_with(tmp_path):
    plan = plan_phantoms("2d", 0)
    enter_folder(tmp_path, plan, overwrite=False)
    keep_data(tmp_path, "before")
    keep_data(tmp_path, "changed while there was no model")
    (tmp_path / "runs" / "ce").mkdir(parents=True)
    enter_folder(tmp_path, plan, overwrite=False)
    keep_data(tmp_path, "changed while there was no model")
    with pytest.raises(ValueError, match=r"data changed since these models .* use --overwrite"):
        keep_data(tmp_path, "other")
    enter_folder(tmp_path, plan, overwrite=True)
    keep_data(tmp_path, "other")


def test_a_running_demo_is_not_overwritten(tmp_path):
    plan = smoke(plan_phantoms("2d", 0))
    enter_folder(tmp_path, plan, overwrite=False)
    (tmp_path / "runs").mkdir()
    with (
        only_demo(tmp_path),
        pytest.raises(ValueError, match="another gradsurge demo is writing to it"),
    ):
        run_demo(plan, tmp_path, overwrite=True)
    assert (tmp_path / "runs").exists()


def test_nothing_is_written_before_device_and_data_are_checked(tmp_path):
    raw, out = raw_tree(tmp_path / "raw"), tmp_path / "demo"
    plan = smoke(plan_real(raw, 0))
    with pytest.raises(ValueError, match=r"device: .*'tpu'"):
        run_demo(plan, out, device="tpu")
    for place in (raw, raw / "demo"):
        with pytest.raises(ValueError, match=r"--out: .* must not share a place with --data"):
            run_demo(plan, place)
    raw.rename(tmp_path / "store")  # where the demo's own store would be
    with pytest.raises(ValueError, match=r"--out: .* must not share a place with --data"):
        run_demo(smoke(plan_real(tmp_path / "store", 0)), tmp_path, overwrite=True)
    (tmp_path / "store" / "dataset.json").write_text("[]")
    with pytest.raises(ValueError, match=r"dataset\.json"):
        run_demo(smoke(plan_real(tmp_path / "store", 0)), out)
    assert [file.name for file in tmp_path.iterdir()] == ["store"]
    assert not (tmp_path / "store" / "demo.json").exists()


@pytest.mark.parametrize("overwrite", [False, True])
def test_what_is_not_of_a_demo_is_never_touched(tmp_path, overwrite):
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "mine").write_text("mine")
    with pytest.raises(ValueError, match="holds store, which is not of a demo"):
        enter_folder(tmp_path, plan_phantoms("2d", 0), overwrite=overwrite)
    (tmp_path / "demo.json").write_text("[]")
    with pytest.raises(ValueError, match=r"demo\.json: not the plan of a demo"):
        enter_folder(tmp_path, plan_phantoms("2d", 0), overwrite=overwrite)
    assert (tmp_path / "store" / "mine").read_text() == "mine"
