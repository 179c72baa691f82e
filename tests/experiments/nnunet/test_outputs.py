"""nnU-Net's folders of predictions, evaluated as they lie there."""

from pathlib import Path

import numpy as np
import pytest

from gradsurge.experiments.evaluation.run import NothingToScore, evaluate
from gradsurge.experiments.evaluation.settings import Settings
from tests.experiments.nnunet import folders

QUICK = Settings(regions=("all",), lesions=False)


def pooled(found, model="m"):
    return found.models[model].sketches["all"]


def plain_nll(cases):
    """Mean of -log p of the true class, over the voxels of all cases."""
    costs = [-np.log(np.take_along_axis(p, y[None].astype(int), 0)) for y, p in cases]
    return np.concatenate(costs).mean()


def test_a_fold_is_scored_on_its_own_cases_and_the_others_are_not_missed(tmp_path):
    model, labels = folders.trained_model(tmp_path)
    found = evaluate({"m": model / "fold_1" / "validation"}, labels, QUICK)
    assert found.problems == []
    expected = plain_nll([folders.case(2), folders.case(3)])
    assert pooled(found).nll() == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("typed", ["validation", "."])
def test_a_fold_is_known_from_inside(tmp_path, monkeypatch, typed):
    model, labels = folders.trained_model(tmp_path)
    monkeypatch.chdir(model / "fold_1")
    found = evaluate({"m": Path(typed)}, labels, QUICK)
    assert (list(found.models["m"].cases), found.problems) == (["case_2", "case_3"], [])


def test_a_model_is_scored_on_all_its_folds(tmp_path):
    model, labels = folders.trained_model(tmp_path)
    found = evaluate({"m": model}, labels, QUICK)
    assert (len(found.models["m"].cases), found.problems) == (4, [])
    expected = plain_nll([folders.case(seed) for seed in range(4)])
    assert pooled(found).nll() == pytest.approx(expected, rel=1e-5)


def test_a_validated_case_without_probabilities_is_missed(tmp_path):
    model, labels = folders.trained_model(tmp_path)
    for suffix in (".npz", ".nii.gz"):
        (model / "fold_0" / "validation" / f"case_0{suffix}").unlink()
    found = evaluate({"m": model}, labels, QUICK)
    assert [(p.case, p.message) for p in found.problems] == [
        ("case_0", "label case_0.nii.gz has no prediction")
    ]


def test_an_unfinished_validation_misses_all_other_labels(tmp_path):
    model, labels = folders.trained_model(tmp_path)
    (model / "fold_0" / "validation" / "summary.json").unlink()
    found = evaluate({"m": model / "fold_0" / "validation"}, labels, QUICK)
    assert {p.case for p in found.problems} == {"case_2", "case_3", "case_99"}


def test_new_predictions_must_be_complete(tmp_path):
    _, labels = folders.trained_model(tmp_path)
    folders.write_descriptions(tmp_path / "new")
    folders.write_prediction(tmp_path / "new", "case_0", folders.case(0)[1])
    found = evaluate({"m": tmp_path / "new"}, labels, QUICK)
    assert len(found.problems) == 4
    assert pooled(found).nll() == pytest.approx(plain_nll([folders.case(0)]), rel=1e-5)


def test_masks_without_probabilities_lead_to_the_flag(tmp_path):
    model, labels = folders.trained_model(tmp_path, folds=((0,),))
    (model / "fold_0" / "validation" / "case_0.npz").unlink()
    with pytest.raises(ValueError, match="--val --npz"):
        evaluate({"m": model}, labels, QUICK)


def test_what_holds_no_validated_cases_is_refused_with_what_to_do(tmp_path):
    model, labels = folders.trained_model(tmp_path, folds=((0,),))

    def refused(folder, said):
        with pytest.raises(ValueError, match=said):
            evaluate({"m": folder}, labels, QUICK)

    refused(tmp_path, f"holds models, name one: {model.name}")
    (model / "fold_0").rename(model / "fold_all")
    refused(model, "was validated on the cases it was trained on")
    (model / "fold_all" / "validation").rename(tmp_path / "elsewhere")
    (model / "fold_all").rename(model / "fold_0")
    (model / "fold_0" / "checkpoint_final.pth").touch()
    (model / "fold_0" / "progress.png").touch()  # no case of that name
    for folder in (model, model / "fold_0"):
        refused(folder, "was not validated yet; nnUNetv2_train .* --val --npz")


def test_a_case_in_two_folds_is_refused(tmp_path):
    model, labels = folders.trained_model(tmp_path, folds=((0, 1), (1,)))
    with pytest.raises(ValueError, match="case_1 is in another fold too"):
        evaluate({"m": model}, labels, QUICK)


def test_the_mask_beside_tells_where_the_probabilities_lie(tmp_path):
    model, labels = folders.trained_model(tmp_path, folds=((0,),))
    moved = folders.AFFINE.copy()
    moved[0, 3] += 7
    folders.write_prediction(
        model / "fold_0" / "validation", "case_0", folders.case(0)[1], affine=moved
    )
    with pytest.raises(NothingToScore) as told:
        evaluate({"m": model}, labels, QUICK)
    assert "corners lie up to 7 mm apart" in told.value.problems[0].message


def region_model(root):
    """Channels "whole" and "core" that may overlap; what `dataset.json` calls them."""
    model, labels = folders.trained_model(root, folds=((0,),))
    label, p = folders.case(0)
    regions = np.stack([p[1] + p[2], p[2]])
    folders.write_descriptions(model, folders.REGIONS)
    folders.write_prediction(model / "fold_0" / "validation", "case_0", regions, mask=p.argmax(0))
    return model, labels, label, regions


def test_regions_come_from_dataset_json(tmp_path):
    model, labels, label, regions = region_model(tmp_path)
    found = evaluate({"m": model}, labels, QUICK)
    assert found.labels == ["whole", "core"]
    truth = np.stack([label > 0, label == 2])
    expected = -np.log(np.where(truth, regions, 1 - regions.astype(np.float64))).mean()
    assert pooled(found).nll() == pytest.approx(expected, rel=1e-5)


def test_what_is_typed_counts_more_than_dataset_json(tmp_path):
    from gradsurge.data import parse_label_set

    model, labels, *_ = region_model(tmp_path)
    sets = (parse_label_set("all=1,2"), parse_label_set("inner=2"))
    settings = Settings(regions=("all",), lesions=False, multilabel=True, label_sets=sets)
    assert evaluate({"m": model}, labels, settings).labels == ["all", "inner"]


def test_models_of_other_regions_are_not_scored_alike(tmp_path):
    model, labels, *_ = region_model(tmp_path)
    other, _ = folders.trained_model(tmp_path, folds=((0,),), name="other")
    with pytest.raises(ValueError, match="its regions are not those of"):
        evaluate({"a": model, "b": other}, labels, QUICK)


def test_an_ignore_label_is_not_taken_for_background(tmp_path):
    model, labels = folders.trained_model(tmp_path)
    folders.write_descriptions(model, {**folders.CLASSES, "ignore": 3})
    with pytest.raises(ValueError, match="label 3 marks voxels without a label"):
        evaluate({"m": model}, labels, QUICK)


@pytest.mark.parametrize("reader", ["NibabelIOWithReorient", "SimpleITKIOWithReorient"])
def test_turned_images_are_refused(tmp_path, reader):
    model, labels = folders.trained_model(tmp_path)
    folders.write_descriptions(model, reader=reader)
    with pytest.raises(ValueError, match="turned these images"):
        evaluate({"m": model / "fold_0" / "validation"}, labels, QUICK)


@pytest.mark.parametrize("text", ["{", "[]", "\x00"])
def test_a_damaged_summary_is_named(tmp_path, text):
    model, labels = folders.trained_model(tmp_path)
    (model / "fold_0" / "validation" / "summary.json").write_text(text)
    with pytest.raises(ValueError, match=r"summary\.json"):
        evaluate({"m": model}, labels, QUICK)


@pytest.mark.parametrize("text", ["{}", '{"metric_per_case": 3}', '{"metric_per_case": [3]}'])
def test_a_summary_without_cases_tells_nothing(tmp_path, text):
    model, labels = folders.trained_model(tmp_path)
    fold = model / "fold_0" / "validation"
    (fold / "summary.json").write_text(text)
    found = evaluate({"m": fold}, labels, QUICK)
    assert (len(found.models["m"].cases), len(found.problems)) == (2, 3)
