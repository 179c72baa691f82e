"""Dice and lesions are of the masks that gradsurge predict wrote, where it wrote the folder."""

import json

import numpy as np
import pytest
from scipy import ndimage

from gradsurge.data import LabelSet
from gradsurge.experiments.evaluation.files import as_json
from gradsurge.experiments.evaluation.run import evaluate
from gradsurge.experiments.evaluation.settings import Settings
from tests.experiments.evaluation.folders import blobs, logits, nifti, sigmoid, softmax


def dice(a, b):
    return 2 * (a & b).sum() / (a.sum() + b.sum())


def listed(folder, names, changes=None):
    told = {
        "format": "gradsurge predictions",
        "cases": [
            {"case": c, "probabilities": f"{c}.nii.gz", "mask": f"masks/{c}.nii.gz"} for c in names
        ],
    } | (changes or {})
    (folder / "predictions.json").write_text(json.dumps(told))


def write(root, case, seed, classes, label_of=lambda y: y):
    """Write a case whose mask is not the map's: that of other logits; return mask and label."""
    y = blobs(seed, classes)
    z = logits(y, classes, seed + 1000)
    p = sigmoid(z[1] - z[0]) if classes == 2 else softmax(z)
    mask = logits(y, classes, seed + 2000).argmax(0).astype(np.uint8)
    nifti(root / "out" / f"{case}.nii.gz", p.astype(np.float32))
    nifti(root / "out" / "masks" / f"{case}.nii.gz", mask)
    nifti(root / "labels" / f"{case}.nii.gz", label_of(y).astype(np.uint8))
    return mask, y


def scores(root, **settings):
    return evaluate({"out": root / "out"}, root / "labels", Settings(**settings))


def rows(found, label):
    model = found.models["out"]
    chosen = [r for r in (*model.rows, *model.pooled) if (r.region, r.label) == ("all", label)]
    return {r.case: r.scores.get("dice") for r in chosen}


def test_of_one_class(tmp_path):
    pairs = {case: write(tmp_path, case, seed, 2) for seed, case in enumerate("ab")}
    listed(tmp_path / "out", pairs)
    found = scores(tmp_path)
    masks, labels = (np.stack(part) == 1 for part in zip(*pairs.values(), strict=True))
    expected = {case: dice(m, y) for case, m, y in zip(pairs, masks, labels, strict=True)}
    assert rows(found, "foreground") == pytest.approx(expected | {"pooled": dice(masks, labels)})
    cube = np.ones((3, 3, 3))
    components = sum(ndimage.label(m, cube)[1] for m in masks)
    assert found.models["out"].lesions["foreground"].predicted_components == components
    (note,) = found.notes
    assert "out: Dice and lesions are of the masks" in note
    assert as_json(found)["models"]["out"]["masks"] == "listed in predictions.json"


@pytest.mark.parametrize(
    "changes", [{"format": "someone else's"}, {"cases": []}, {"cases": [{"case": "a"}]}]
)
def test_other_folders_are_measured_as_ever(tmp_path, changes):
    write(tmp_path, "a", 0, 2)
    before = rows(scores(tmp_path), "foreground")
    listed(tmp_path / "out", "a", changes)
    found = scores(tmp_path)
    assert rows(found, "foreground") == before
    assert found.notes == []
    listed(tmp_path / "out", "a")
    assert rows(scores(tmp_path), "foreground") != before


def test_of_several_classes(tmp_path):
    mask, y = write(tmp_path, "a", 3, 3)
    listed(tmp_path / "out", "a")
    found = scores(tmp_path)
    for c in (1, 2):
        expected = dice(mask == c, y == c)
        assert rows(found, f"class {c}") == pytest.approx({"a": expected, "pooled": expected})


def test_of_a_class_with_another_number_in_the_label(tmp_path):
    mask, y = write(tmp_path, "a", 4, 2, label_of=lambda y: y * 2)
    listed(tmp_path / "out", "a")
    found = scores(tmp_path, label_sets=(LabelSet("tumour", (2,)),))
    assert rows(found, "tumour")["a"] == pytest.approx(dice(mask == 1, y == 1))


def test_of_regions(tmp_path):
    """Painted with class numbers: a region is where its classes are."""
    mask, y = write(tmp_path, "a", 5, 3)
    z = logits(y, 3, 77)
    regions = np.stack([sigmoid(z[1] - z[0]), sigmoid(z[2] - z[0])]).astype(np.float32)
    nifti(tmp_path / "out" / "a.nii.gz", regions)
    listed(tmp_path / "out", "a")
    sets = (LabelSet("whole", (1, 2)), LabelSet("core", (2,)))
    found = scores(tmp_path, multilabel=True, label_sets=sets)
    assert rows(found, "whole")["a"] == pytest.approx(dice(mask > 0, y > 0))
    assert rows(found, "core")["a"] == pytest.approx(dice(mask == 2, y == 2))


def test_a_mask_that_is_gone_or_of_another_shape_is_a_problem(tmp_path):
    for seed, case in enumerate("abc"):
        write(tmp_path, case, seed, 2)
    listed(tmp_path / "out", "abc")
    (tmp_path / "out" / "masks" / "a.nii.gz").unlink()
    nifti(tmp_path / "out" / "masks" / "b.nii.gz", np.zeros((3, 3, 3), np.uint8))
    found = scores(tmp_path)
    assert found.models["out"].cases == ["c"]
    one, two = found.problems
    assert "a.nii.gz" in one.message
    assert "b.nii.gz" in two.message
