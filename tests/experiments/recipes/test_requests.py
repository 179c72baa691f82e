"""From a recipe's variants and points to runs."""

from dataclasses import replace
from pathlib import Path

import pytest

from gradsurge.experiments.recipes import Choice, Range, read_recipe, study_name
from gradsurge.experiments.runs import SurgerySchedule
from tests.experiments.recipes.texts import GRID, SMALL, written

POINT = {"training.learning_rate": 3e-3, "training.ema": 0.9}


@pytest.fixture
def small(tmp_path):
    return read_recipe(str(written(tmp_path, SMALL)))


@pytest.fixture
def grid(tmp_path):
    return read_recipe(str(written(tmp_path, GRID)))


def test_what_a_file_says_is_there(small):
    assert (small.name, small.title, small.scale) == ("discs", "Discs", "paper")
    assert [variant.title for variant in small.variants] == ["CE", "Dice - Surgery", "Tversky"]
    assert (small.search.kind, small.search.trials, small.search.keep) == ("random", 4, 2)
    assert small.search.space == {"training.learning_rate": Range(1e-3, 1e-2, "log")}
    assert small.data.cases is None
    assert small.tables["1"].variants == ("ce", "dice-surgery", "tversky")
    assert small.evaluation.profile == "foreground"
    assert study_name(small, small.variant("ce")) == "discs/paper/ce"


def test_a_point_goes_where_its_names_say(small):
    tversky = small.variant("tversky")
    assert list(small.space_of(tversky)) == ["training.learning_rate", "loss.a"]
    request = small.request(tversky, {"training.learning_rate": 2e-3, "loss.a": 0.7})
    assert (request.loss, request.loss_options) == ("tversky", {"a": 0.7})
    assert request.training == {"steps": 30, "learning_rate": 2e-3}
    assert request.init is None
    assert request.preset == "quick"
    seeded = {"training.learning_rate": 2e-3, "loss.a": 0.7, "training.seed": 4}
    assert small.request(tversky, seeded).training["seed"] == 4


@pytest.mark.parametrize(
    "point",
    [
        {},
        {"training.learning_rate": 1e-3},
        {"training.learning_rate": 1e-3, "loss.a": 0.3, "loss.b": 0.3},
        {"training.learning_rate": 1e-3, "loss.A": 0.3},
    ],
)
def test_a_point_of_another_variant_is_refused(small, point):
    words = r"point: tversky is searched over training.learning_rate, loss.a, got"
    with pytest.raises(ValueError, match=words):
        small.request(small.variant("tversky"), point)


def test_a_share_of_the_steps(grid):
    dice = grid.variant("dice")
    third = grid.request(dice, POINT, share=grid.search.share).training
    assert third == {
        "learning_rate": 3e-3,
        "ema": 0.9,
        "steps": 10,
        "validate_every": 10,
        "warmup": 2,
    }
    whole = grid.request(dice, POINT).training
    assert (whole["steps"], whole["validate_every"], whole["warmup"]) == (30, 25, 6)
    for share in (0, 1.5, float("nan")):
        with pytest.raises(ValueError, match="share: expected a number above 0"):
            grid.request(dice, POINT, share=share)


def test_more_steps_than_the_others(grid):
    longer = grid.request(replace(grid.variant("dice"), share=3.0), POINT).training
    assert (longer["steps"], longer["validate_every"], longer["warmup"]) == (90, 25, 18)


def test_a_start_and_what_goes_on_have_the_budget_of_all(grid):
    first, last = grid.variant("dice.first"), grid.variant("dice-surgery.last")
    begun = grid.request(first, POINT).training["steps"]
    went_on = grid.request(last, POINT, init=Path("run")).training["steps"]
    assert begun + went_on == grid.request(grid.variant("dice"), POINT).training["steps"]


def test_a_start_is_asked_for_where_there_is_one(grid):
    with pytest.raises(
        ValueError, match=r"init: dice-surgery.last starts from a run of dice.first"
    ):
        grid.request(grid.variant("dice-surgery.last"), POINT)
    with pytest.raises(ValueError, match="init: dice starts from nothing, got a folder"):
        grid.request(grid.variant("dice"), POINT, init=Path("run"))


def test_a_run_that_goes_on_keeps_the_network_of_its_start(tmp_path):
    wishes = 'model = "residual-unet"\npatch = [32, 32]\nmodel_options = { features = 8 }\n[search]'
    recipe = read_recipe(str(written(tmp_path, GRID.replace("[search]", wishes))))
    fresh = recipe.request(recipe.variant("dice"), POINT)
    assert (fresh.patch, fresh.model_options) == ((32, 32), {"features": 8})
    gone_on = recipe.request(recipe.variant("dice-surgery.last"), POINT, init=Path("run"))
    assert (gone_on.patch, gone_on.model, gone_on.model_options) == (None, None, {})


def test_points_that_are_taken_from_another(grid):
    hard = grid.variant("tversky-surgery.hard")
    assert grid.space_of(hard) == {
        "training.learning_rate": Choice((1e-3, 3e-3)),
        "training.ema": Choice((0.9,)),
        "loss.a": Choice((0.3, 0.7)),
    }
    request = grid.request(hard, {**POINT, "loss.a": 0.3})
    assert request.loss_options == {"hard_statistics": True, "a": 0.3}
    assert grid.search.trials == 2


def test_names_that_are_not_there(small):
    with pytest.raises(ValueError, match="discs: no variant 'dice'; there are: ce, dice-surgery"):
        small.variant("dice")
    with pytest.raises(ValueError, match="discs: no table '2'; there are: 1"):
        small.variants_of("2")


def test_a_switch_and_a_ramp(tmp_path):
    text = SMALL.replace("dice-surgery = {}", "dice-surgery = { surgery = { start = 0.6 } }")
    assert read_recipe(str(written(tmp_path, text))).variant("dice-surgery").surgery == (
        SurgerySchedule(0.6, 0.6)
    )
    text = text.replace("start = 0.6", "start = 0.2, full = 0.6")
    assert read_recipe(str(written(tmp_path, text))).variant("dice-surgery").surgery == (
        SurgerySchedule(0.2, 0.6)
    )


def test_scales_change_what_they_name(tmp_path):
    text = SMALL + (
        "data.cases = { train = 3, test = 1 }\nsearch.keep = 1\n[scale.small]\ndata.cases = 2\n"
    )
    file = str(written(tmp_path, text))
    smoke, small, paper = (read_recipe(file, scale) for scale in ("smoke", "small", "paper"))
    assert [r.run["training"]["steps"] for r in (smoke, small, paper)] == [3, 30, 30]
    assert [r.search.keep for r in (smoke, small, paper)] == [1, 2, 2]
    assert smoke.data.cases == {"train": 3, "test": 1}
    assert small.data.cases == {"train": 2, "validation": 2, "test": 2}
    assert paper.data.cases is None
    assert smoke.search.space == paper.search.space


def test_a_scale_has_at_most_so_many_seeds(tmp_path):
    file = str(written(tmp_path, GRID + "\n[scale.smoke]\nseeds = 2\n"))
    assert [v.seeds for v in read_recipe(file).variants] == [3, 2, 1, 1, 1]
    assert [v.seeds for v in read_recipe(file, "smoke").variants] == [2, 2, 1, 1, 1]
