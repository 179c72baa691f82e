"""What is read of predictions.json, and what is refused."""

import json

import pytest

from gradsurge.experiments.viewing.prediction_folder import PredictionFolder, open_predictions
from tests.experiments.viewing.folders import about, prediction_folder


def opened(tmp_path, told):
    return PredictionFolder(tmp_path, told, {})


def test_classes_regions_and_merged_numbers(tmp_path):
    classes = opened(tmp_path, about(("background", "one", "two"), "multiclass")).structures
    assert [(s.name, s.channel, s.label_numbers) for s in classes] == [
        ("any structure", None, (1, 2)),
        ("one", 1, (1,)),
        ("two", 2, (2,)),
    ]
    told = about(("whole", "core"), "multilabel", regions={"whole": [1, 2], "core": [2]})
    assert [s.mask_numbers for s in opened(tmp_path, told).structures] == [(1, 2), (2,)]
    merged = opened(tmp_path, about(source_classes={"lesion": [2, 3]})).structures
    assert (merged[0].label_numbers, merged[0].mask_numbers) == ((2, 3), (1,))


def test_facts_say_what_was_done(tmp_path):
    told = about(correction="equilibrium", thresholds={"lesion": 0.901})
    facts = dict(opened(tmp_path, told).facts())
    assert facts["Model"] == "run some at step 40"
    assert "equilibrium" in facts["Map"]
    assert facts["Mask"] == "lesion p > 0.901, of the probabilities before the correction"
    plain = dict(opened(tmp_path, about()).facts())
    assert "no correction" in plain["Map"]
    assert "likeliest class" in plain["Mask"]
    told["runs"] = [*told["runs"], {"run": "x/other", "step": 1, "correction": "none"}]
    mixed = dict(opened(tmp_path, told).facts())
    assert mixed["Model"].startswith("mean of 2 runs: some")
    assert mixed["Map"].endswith("of some runs")


def test_the_first_case_is_shown_unless_one_is_named(tmp_path):
    folder = open_predictions(prediction_folder(tmp_path))
    assert (folder.case_named(None), folder.case_named("b")) == ("a", "b")
    with pytest.raises(ValueError, match=r"--case: .* has no 'c'; it has a, b"):
        folder.case_named("c")


def test_many_cases_are_not_all_listed(tmp_path):
    names = {f"case{n}": {} for n in range(12)}
    with pytest.raises(ValueError, match="case7 and 4 more"):
        PredictionFolder(tmp_path, about(), names).case_named("x")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "damaged"),
        ("[]", "not written by gradsurge predict"),
        ('{"format": "other"}', "not written by gradsurge predict"),
        ('{"format": "gradsurge predictions"}', "damaged"),
        (json.dumps({**about(), "mask": 3}), "damaged"),
        ("[" * 100_000, "damaged"),
    ],
)
def test_damaged_files_are_named(tmp_path, text, words):
    (tmp_path / "predictions.json").write_text(text)
    with pytest.raises(ValueError, match=words) as error:
        open_predictions(tmp_path)
    assert "predictions.json" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_folder_without_the_file(tmp_path):
    with pytest.raises(ValueError, match="expected a folder of gradsurge predict"):
        open_predictions(tmp_path)


def test_an_empty_folder_of_predictions(tmp_path):
    (tmp_path / "predictions.json").write_text(json.dumps({**about(), "cases": []}))
    with pytest.raises(ValueError, match="lists no case"):
        open_predictions(tmp_path).case_named(None)


def test_names_that_lead_out_of_the_folder_are_passed_over(tmp_path):
    cases = [{"case": "a", "probabilities": "../secret.nii.gz", "mask": "/etc/passwd"}]
    (tmp_path / "predictions.json").write_text(json.dumps({**about(), "cases": cases}))
    assert open_predictions(tmp_path).files == {"a": {}}
