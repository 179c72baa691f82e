"""Structures other than the label's own classes, and files that hold logits."""

import numpy as np
import pytest

from gradsurge import CalibrationSketch
from gradsurge.data import parse_label_set
from gradsurge.experiments.evaluation.run import evaluate
from gradsurge.experiments.evaluation.settings import ALL, Settings
from tests.experiments.evaluation import folders, oracles

TUMOUR, WHOLE = parse_label_set("tumour=2"), parse_label_set("kidney+tumour=1,2")
# Sums of float32 channels are rounded; the oracle's are not.
ROUNDING = 1e-6


def write(root, name, values, label):
    folders.nifti(root / "labels" / f"{name}.nii.gz", label)
    folders.nifti(root / "model" / f"{name}.nii.gz", values)


def classes_and_logits(root, as_logits, number=3, cases=2):
    """Write cases of ``number`` classes; return case -> (softmax in float64, label)."""
    found = {}
    for seed in range(cases):
        label = folders.blobs(seed, number)
        z = folders.logits(label, number, seed + 9)
        p = folders.softmax(z)
        write(root, f"case{seed}", z if as_logits else p.astype(np.float32), label)
        found[f"case{seed}"] = p, label
    return found


def pooled(cases):
    p, y = zip(*cases.values(), strict=True)
    parts = [a.reshape(len(a), -1) for a in p], [a.ravel() for a in y]
    return tuple(np.concatenate(part, -1) for part in parts)


@pytest.mark.parametrize("as_logits", [False, True])
def test_one_set_is_scored_against_the_rest(tmp_path, as_logits):
    cases = classes_and_logits(tmp_path, as_logits)
    model = folders.measure(tmp_path, label_sets=(TUMOUR,), logits=as_logits).models["model"]
    for name, (p, y) in cases.items():
        expected = oracles.of_structure(p[2], y == 2)
        expected["dice"] = oracles.dice(p[2] > 0.5, y == 2)
        oracles.assert_scores(folders.row(model, name, "tumour"), expected, ROUNDING)
    p, y = pooled(cases)
    expected = oracles.of_structure(p[2], y == 2)
    oracles.assert_scores(folders.row(model, "pooled", "tumour"), expected, ROUNDING)


@pytest.mark.parametrize("as_logits", [False, True])
def test_sets_that_overlap_from_a_softmax(tmp_path, as_logits):
    cases = classes_and_logits(tmp_path, as_logits)
    evaluation = folders.measure(tmp_path, label_sets=(TUMOUR, WHOLE), logits=as_logits)
    assert evaluation.labels == ["tumour", "kidney+tumour"]
    model = evaluation.models["model"]
    flat = {name: (p.reshape(3, -1), y.ravel()) for name, (p, y) in cases.items()}
    for name, (p, y) in (flat | {"pooled": pooled(cases)}).items():
        scores = np.stack([p[2], p[1] + p[2]])
        truth = np.stack([y == 2, y > 0])
        for k, label in enumerate(evaluation.labels):
            expected = oracles.of_structure(scores[k], truth[k])
            expected["dice"] = oracles.dice(scores[k] > 0.5, truth[k])
            oracles.assert_scores(folders.row(model, name, label), expected, ROUNDING)
        mean = oracles.of_sets(scores, truth)
        oracles.assert_scores(folders.row(model, name, ALL), mean, ROUNDING)


@pytest.mark.parametrize("as_logits", [False, True])
def test_channels_that_overlap(tmp_path, as_logits):
    cases = {}
    for seed in range(2):
        label = folders.blobs(seed, 3)
        truth = np.stack([label > 0, label == 2])
        z = (2.0 * truth - 1 + folders.random(seed).normal(size=truth.shape)).astype(np.float32)
        p = folders.sigmoid(z)
        write(tmp_path, f"case{seed}", z if as_logits else p.astype(np.float32), label)
        cases[f"case{seed}"] = p, truth
    sets = (WHOLE, TUMOUR)
    evaluation = folders.measure(tmp_path, label_sets=sets, logits=as_logits, multilabel=True)
    model = evaluation.models["model"]
    assert model.problems == []
    for name, (p, truth) in cases.items():
        for k, label in enumerate(evaluation.labels):
            expected = oracles.of_structure(p[k], truth[k])
            expected["dice"] = oracles.dice(p[k] > 0.5, truth[k])
            oracles.assert_scores(folders.row(model, name, label), expected, ROUNDING)
        mean = oracles.of_sets(p, truth)
        oracles.assert_scores(folders.row(model, name, ALL), mean, ROUNDING)


@pytest.mark.parametrize("channels", [1, 2])
def test_binary_logits(tmp_path, channels):
    cases = {}
    for seed in range(2):
        label = folders.blobs(seed)
        z = folders.logits(label, 2, seed + 9, noise=4)
        values = z if channels == 2 else z[1] - z[0]
        write(tmp_path, f"case{seed}", values, label)
        gap = (z[1].astype(np.float64) - z[0]) if channels == 2 else values
        cases[f"case{seed}"] = folders.sigmoid(gap), label
    model = folders.measure(tmp_path, logits=True).models["model"]
    for name, (p, y) in cases.items():
        expected = oracles.of_structure(p, y == 1) | {"dice": oracles.dice(p > 0.5, y == 1)}
        oracles.assert_scores(folders.row(model, name, "foreground"), expected)
    assert model.logits["foreground"].means().kind == "logits"


def test_logits_that_saturate_lose_nothing(tmp_path):
    label = folders.blobs(0)
    z = np.full(label.shape, -200.0, np.float32)
    z[0, 0, 0] = 1.0
    write(tmp_path, "case", z, label)
    scores = folders.row(
        folders.measure(tmp_path, logits=True).models["model"], "case", "foreground"
    )
    cost = np.logaddexp(0, np.where(label == 1, -z, z).astype(np.float64))
    assert scores["nll"] == pytest.approx(cost.mean(), rel=1e-12)  # 200 a voxel, not 17


def test_multiclass_logits(tmp_path):
    cases = classes_and_logits(tmp_path, as_logits=True)
    model = folders.measure(tmp_path, logits=True).models["model"]
    for name, (p, y) in cases.items():
        flat, truth = p.reshape(3, -1), y.ravel()
        oracles.assert_scores(
            folders.row(model, name, ALL), oracles.of_classes(flat, truth), ROUNDING
        )
        for c in (1, 2):
            expected = oracles.of_structure(flat[c], truth == c)
            expected["dice"] = oracles.dice(flat.argmax(0) == c, truth == c)
            oracles.assert_scores(folders.row(model, name, f"class {c}"), expected, ROUNDING)


@pytest.mark.parametrize("as_logits", [False, True])
def test_the_background_can_be_a_set(tmp_path, as_logits):
    cases = classes_and_logits(tmp_path, as_logits, number=2)
    sets = (parse_label_set("background=0"),)
    model = folders.measure(tmp_path, label_sets=sets, logits=as_logits).models["model"]
    for name, (p, y) in cases.items():
        expected = oracles.of_structure(p[0], y == 0)
        oracles.assert_scores(folders.row(model, name, "background"), expected, ROUNDING)


def test_the_logit_table_by_its_definition(tmp_path):
    z, y = [], []
    for seed in range(2):
        label = folders.blobs(seed, 3)
        z.append(folders.logits(label, 3, seed + 9))
        y.append(label)
        write(tmp_path, f"case{seed}", z[-1], label)
    table = folders.measure(tmp_path, logits=True).models["model"].logits["classes"].means()
    flat = np.concatenate([a.reshape(3, -1) for a in z], 1).astype(np.float64)
    truth = np.concatenate([a.ravel() for a in y])
    for t in range(3):
        assert table.means[t] == pytest.approx(flat[:, truth == t].mean(1), rel=1e-9)


def test_other_sets_of_the_same_files_are_the_same_cases(tmp_path):
    classes_and_logits(tmp_path, as_logits=False)
    digests = []
    for number, sets in enumerate([(TUMOUR,), (WHOLE,), ()]):
        sketches = tmp_path / str(number)
        settings = Settings(label_sets=sets, lesions=False)
        evaluate({"model": tmp_path / "model"}, tmp_path / "labels", settings, sketches=sketches)
        pooled_sketch = CalibrationSketch.load(sketches / "model" / "pooled.all.npz")
        digests.append(pooled_sketch.cases.digests)
    assert digests[0] == digests[1] == digests[2]
    assert len(digests[0]) == 2
