"""Studies and records that were begun before files said how strong the surgery was."""

import json

import pytest

from gradsurge.experiments.recipes import read_recipe
from gradsurge.experiments.study.digests import fixed_settings
from gradsurge.experiments.study.planned_run import PlannedRun
from gradsurge.experiments.study.study_folder import check_study
from gradsurge.losses.strength import PAPER
from tests.documents import ROOT


def begun(folder, recipe, change):
    """Write the study.json of a study, a variant's options changed."""
    settings = fixed_settings(recipe)
    for part in settings.values():
        if "loss_options" in part:
            part["loss_options"] = change(part["loss_options"])
    about = {"format": "gradsurge study", "recipe": recipe.name, "scale": recipe.scale}
    (folder / "study.json").write_text(json.dumps({**about, "settings": settings}))


def silent(options):
    return {k: v for k, v in options.items() if k not in PAPER}


def test_a_study_stores_every_strength():
    settings = fixed_settings(read_recipe("kits"))
    assert settings["variants.dice-surgery"]["loss_options"] == {
        "decline": 20.0,
        "scale": 0.25,
        "normalise": False,
    }
    assert settings["variants.ce+dice-surgery.ours"]["loss_options"] == {
        "decline": None,
        "scale": 0.5,
        "normalise": True,
        "weights": [1.0, 1.0],
    }
    assert settings["variants.dice"]["loss_options"] == {}


@pytest.mark.parametrize("name", ["chase", "hippocampus", "isles", "isles-narrow", "phantoms"])
def test_our_studies_of_then_go_on(name):
    check_study(ROOT / "docs" / "results" / name, read_recipe(name))


def test_a_study_of_the_papers_rows_goes_on(tmp_path):
    recipe = read_recipe("kits-primus")
    begun(tmp_path, recipe, silent)
    check_study(tmp_path, recipe)


def test_a_study_with_sgd_that_means_todays_strength_is_told_how_to_go_on(tmp_path):
    recipe = read_recipe("kits")
    begun(tmp_path, recipe, silent)
    with pytest.raises(ValueError, match="paper = true"):
        check_study(tmp_path, recipe)
    begun(tmp_path, recipe, dict)
    check_study(tmp_path, recipe)


def test_explicit_values_of_the_paper_are_answered_as_older_records_have_them():
    recipe = read_recipe("chase")
    point = {"training.learning_rate": 0.01, "training.seed": 0}
    plain = PlannedRun(recipe.variant("dice-surgery"), "lr0.01", point)
    explicit = PlannedRun(recipe.variant("dice-surgery.n20"), "lr0.01", point)
    assert plain.wanted(recipe) == plain.wanted(recipe, as_said=True)
    assert explicit.wanted(recipe) != explicit.wanted(recipe, as_said=True)
    records = ROOT / "docs" / "results" / "chase" / "records"  # made by 0.1.0
    of_then = json.loads((records / "dice-surgery.n20" / "lr0.01.json").read_text())
    assert of_then["wanted"] == explicit.wanted(recipe, as_said=True)
