"""Which runs of a study are compared by optimiser."""

import json

import pytest

from gradsurge.experiments.figure_data.optimiser_runs import runs_to_compare
from gradsurge.experiments.study.record import write_record
from tests.experiments.figure_data.records import record
from tests.experiments.figure_data.tiny_runs import phantom_store, tiny_run

RUNS = {
    "dice": ("dice", "adamw"),
    "dice.sgd": ("dice", "sgd"),
    "dice-surgery": ("dice-surgery", "adamw"),
    "dice-surgery.n1": ("dice-surgery", "adamw"),
    "dice-surgery.sgd": ("dice-surgery", "sgd"),
    "ce": ("ce", "adamw"),
    "ce+dice": ("ce+dice", "adamw"),
    "ce+dice.sgd": ("ce+dice", "sgd"),
}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """The folder of a study with a run of each of `RUNS`, and records of two seeds."""
    folder = tmp_path_factory.mktemp("study")
    store = phantom_store(folder / "store", "vessels-2d", (48, 48), cases=6)
    (folder / "study.json").write_text(json.dumps({"format": "gradsurge study"}))
    for variant, (loss, optimiser) in RUNS.items():
        for seed in (0, 1):
            made = record(variant, 0.1, seed)
            write_record(folder, made)
            if seed == 0:
                rate = 0.01 if variant.endswith(".n1") else 0.03
                place = folder / "runs" / variant / made.run
                tiny_run(store, place, loss, optimiser=optimiser, learning_rate=rate)
    return folder


def test_one_loss_and_its_surgery_with_two_optimisers_once_each(study):
    found = runs_to_compare([study])
    told = [(run.config.loss, run.config.training.optimiser) for run in found]
    assert sorted(told) == sorted({told for told in RUNS.values() if not told[0].startswith("ce")})
    assert all(run.config.training.learning_rate == 0.03 for run in found)  # none is that of n1


def test_runs_by_name(study):
    folder = next((study / "runs" / "ce").iterdir())
    (run,) = runs_to_compare([folder])
    assert run.config.loss == "ce"


def test_runs_of_one_name_are_told_apart(study):
    runs = [next((study / "runs" / variant).iterdir()) for variant in ("ce", "dice")]
    assert len({run.name for run in runs}) == 1
    found = runs_to_compare(runs)
    assert [run.name for run in found] == [f"{run.parent.name}/{run.name}" for run in runs]


def test_a_study_with_one_optimiser(study, tmp_path):
    (tmp_path / "study.json").write_text("{}")
    with pytest.raises(ValueError, match="one loss with two optimisers in runs/, got 0 runs"):
        runs_to_compare([tmp_path])
    with pytest.raises(ValueError, match="not a run"):
        runs_to_compare([study / "records"])
