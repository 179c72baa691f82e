"""From a store and wishes to a run."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradsurge.experiments.runs import PRESETS, RunConfig, RunRequest, SurgerySchedule, plan_run
from gradsurge.experiments.runs.patch_size import plan_patch
from gradsurge.experiments.runs.run_folder import (
    compare_configs,
    only_trainer,
    open_folder,
    read_config,
)
from tests.experiments.runs.stores import disc_store

LATE = SurgerySchedule(0.5, 0.5)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return disc_store(tmp_path_factory.mktemp("planning"), classes=2)


@given(st.lists(st.integers(1, 600), min_size=2, max_size=3), st.integers(5000, 10**6))
def test_a_patch_fits_the_budget_and_halves(shape, voxels):
    patch = plan_patch(shape, voxels)
    assert all(n % 8 == 0 and n >= 16 for n in patch)
    assert math.prod(patch) <= voxels or set(patch) == {16}
    assert all(n < have + 16 for n, have in zip(patch, shape, strict=True))


def test_defaults_come_from_store_and_preset(store):
    config = plan_run(store, RunRequest("ce+dice-surgery"))
    assert config.patches.size == tuple(config.model.patch) == (24, 24)
    assert config.patches.batch == PRESETS["quick"].batch[2]
    assert (config.model.in_channels, config.model.out_channels) == (1, 3)
    assert config.dataset.splits == {
        "train": ["disc0", "disc1", "disc2"],
        "validation": ["disc3", "disc4"],
    }
    assert config.training.steps == PRESETS["quick"].training["steps"]
    assert config.surgery.from_the_start


def test_wishes_come_first(store):
    config = plan_run(
        store,
        RunRequest(
            "tversky-surgery",
            {"a": 0.3},
            patch=(16, 32),
            patches={"batch": 3, "oversample": 0.5},
            training={"steps": 10, "learning_rate": 0.5},
            augmentation="none",
            surgery=SurgerySchedule(0.5, 0.5),
            validation_cases=1,
        ),
    )
    assert config.patches.size == (16, 32)
    assert (config.patches.batch, config.patches.oversample) == (3, 0.5)
    assert config.training.validate_every <= 10
    assert config.loss_options == {"a": 0.3}


def test_a_config_survives_json(store):
    config = plan_run(store, RunRequest("ce+dice-surgery", {"weights": [1, 1], "decline": None}))
    again = RunConfig.from_json(json.loads(json.dumps(config.to_json())))
    assert again.to_json() == config.to_json()
    assert again.task == config.task


@pytest.mark.parametrize("preset", ["full", "paper-2d"])
def test_other_presets_can_be_planned(store, preset):
    training = plan_run(store, RunRequest("dice", preset=preset)).training
    assert (training.steps, training.precision) == (250_000, "auto")


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        ({"loss": "dcie"}, "loss: unknown 'dcie'"),
        ({"preset": "fast"}, "preset: unknown"),
        ({"preset": "paper-3d"}, "paper-3d is for 3D"),
        ({"augmentation": "heavy"}, "augmentation: unknown"),
        ({"patch": (8, 8, 8)}, "patch: the store has 2 axes"),
        ({"patches": {"batch": 0}}, "batch: expected"),
        ({"training": {"steps": 0}}, "steps: expected"),
        ({"training": {"learning_rate": -1.0}}, "learning_rate: expected"),
        ({"loss_options": {"sigma": 2}}, "unknown option 'sigma'"),
        ({"loss_options": {"activation": "sigmoid"}}, "activation: follows from the store"),
        ({"loss_options": {"smooth": -1}}, "smooth: expected"),
        ({"surgery": SurgerySchedule(0.5, 0.5)}, "dice has none to start later"),
        ({"validation_cases": 0}, "validation_cases: expected"),
        ({"model": "vnet"}, "model: unknown 'vnet'; known: residual-unet"),
        (
            {"loss": "dice-surgery", "surgery": LATE, "loss_options": {"blend": 0.5}},
            "loss option blend: .* give one of",
        ),
        (
            {"loss": "dice-surgery", "surgery": LATE, "training": {"steps": 1}},
            "surgery: full at 0.5 of 1 steps, which none of them reaches",
        ),
        (
            {
                "loss": "dice-surgery",
                "surgery": SurgerySchedule(0.1, 0.999),
                "training": {"steps": 800},
            },
            "surgery: full at 0.999 of 800 steps",
        ),
    ],
)
def test_mistakes_are_named(store, wish, words):
    with pytest.raises(ValueError, match=words):
        plan_run(store, RunRequest(**{"loss": "dice", **wish}))


def test_losses_that_cannot_learn_regions_say_so(tmp_path):
    store = disc_store(tmp_path, classes=2, regions=True)
    with pytest.raises(ValueError, match="regions that overlap"):
        plan_run(store, RunRequest("svls"))


def test_a_folder_is_opened_once(store, tmp_path):
    config = plan_run(store, RunRequest("dice"))
    out = tmp_path / "run"
    open_folder(out, config, resume=False)
    assert read_config(out).to_json() == config.to_json()
    with pytest.raises(ValueError, match="holds a run already; add --resume"):
        open_folder(out, config, resume=False)
    open_folder(out, config, resume=True)


def test_resuming_names_the_setting_that_differs(store, tmp_path):
    out = tmp_path / "run"
    open_folder(out, plan_run(store, RunRequest("dice")), resume=True)
    other = plan_run(store, RunRequest("dice", training={"steps": 7}))
    with pytest.raises(ValueError, match=r"training\.steps is \d+ in this run, got 7"):
        open_folder(out, other, resume=True)
    with pytest.raises(ValueError, match=r'loss is "dice" in this run, got "ce"'):
        open_folder(out, plan_run(store, RunRequest("ce")), resume=True)
    with pytest.raises(ValueError, match=r"loss_options\.smooth is .not set. in this run, got 1"):
        compare_configs(out, read_config(out), plan_run(store, RunRequest("dice", {"smooth": 1})))


def test_a_store_may_be_moved(store, tmp_path):
    from dataclasses import replace

    config = plan_run(store, RunRequest("dice"))
    open_folder(tmp_path / "run", config, resume=False)
    moved = open_folder(tmp_path / "run", replace(config, store="/elsewhere"), resume=True)
    assert moved.store == "/elsewhere"
    assert moved.dataset == config.dataset


def test_what_a_killed_training_left_is_no_hindrance(store, tmp_path):
    for name in (".lock", ".config.json.4711"):
        (tmp_path / name).write_text("")
    config = plan_run(store, RunRequest("dice"))
    assert open_folder(tmp_path, config, resume=True) == config


def test_other_things_in_the_folder_are_left_alone(store, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match="is not empty and holds no run"):
        open_folder(tmp_path, plan_run(store, RunRequest("dice")), resume=True)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "gradsurge run", "version": 9}'])
def test_a_damaged_config_is_one_line(tmp_path, text):
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(ValueError, match=r"config\.json"):
        read_config(tmp_path)


def test_two_trainings_do_not_share_a_folder(tmp_path):
    with (
        only_trainer(tmp_path),
        pytest.raises(ValueError, match="another gradsurge train"),
        only_trainer(tmp_path),
    ):
        pass
