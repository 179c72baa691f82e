"""Scores of folders of every format, against scikit-learn on all voxels at once."""

import math

import numpy as np
import pytest
import tifffile
from sklearn.metrics import average_precision_score, roc_auc_score

from gradsurge.experiments.evaluation.settings import ALL
from tests.experiments.evaluation import folders, oracles

CASES = ("a", "b", "c")


def three_cases(classes=2, shape=folders.SHAPE):
    """Return case -> (softmax probabilities (C, *S) in float32, label)."""
    found = {}
    for seed, name in enumerate(CASES):
        y = folders.blobs(seed, classes, shape)
        found[name] = folders.softmax(folders.logits(y, classes, seed + 50)).astype(np.float32), y
    return found


def nifti_foreground(root, name, p, y):
    folders.nifti(root / "labels" / f"{name}.nii.gz", y)
    folders.nifti(root / "model" / f"{name}.nii.gz", p[1])
    return p[1]


def nifti_two_channels(root, name, p, y):
    folders.nifti(root / "labels" / f"{name}.nii.gz", y)
    folders.nifti(root / "model" / f"{name}.nii", p)
    return p[1]


def nifti_file_a_channel(root, name, p, y):
    folders.nifti(root / "labels" / f"{name}.nii.gz", y)
    for c, channel in enumerate(p):
        folders.nifti(root / "model" / f"{name}_{c:04d}.nii.gz", channel)
    return p[1]


def png_8_bit(root, name, p, y):
    stored = np.rint(p[1] * 255).astype(np.uint8)
    folders.png(root / "labels" / f"{name}.png", y * np.uint8(255))
    folders.png(root / "model" / f"{name}.png", stored)
    return stored / 255


def png_16_bit(root, name, p, y):
    stored = np.rint(p[1] * 65535).astype(np.uint16)
    stored[0, :15] = np.arange(15) * 4369  # edges of the bins, 0 among them
    folders.png(root / "labels" / f"{name}.png", y)
    folders.png(root / "model" / f"{name}.png", stored)
    return stored / 65535


def npy_with_tiff_label(root, name, p, y):
    for folder in ("labels", "model"):
        (root / folder).mkdir(exist_ok=True)
    tifffile.imwrite(root / "labels" / f"{name}.tif", y)
    np.save(root / "model" / f"{name}.npy", p[1].astype(np.float64))
    return p[1]


@pytest.mark.parametrize(
    ("write", "shape"),
    [
        (nifti_foreground, folders.SHAPE),
        (nifti_two_channels, folders.SHAPE),
        (nifti_file_a_channel, folders.SHAPE),
        (png_8_bit, (30, 40)),
        (png_16_bit, (30, 40)),
        (npy_with_tiff_label, folders.SHAPE),
        (npy_with_tiff_label, (30, 40)),
    ],
)
def test_binary_rows_means_and_pooled(tmp_path, write, shape):
    expected, p, y = {}, [], []
    for name, (probabilities, label) in three_cases(shape=shape).items():
        read = np.asarray(write(tmp_path, name, probabilities, label), np.float64)
        expected[name] = oracles.of_structure(read, label)
        expected[name]["dice"] = oracles.dice(read > 0.5, label == 1)
        p.append(read.ravel())
        y.append(label.ravel() == 1)
    evaluation = folders.measure(tmp_path)
    model = evaluation.models["model"]
    assert (model.problems, model.cases) == ([], list(CASES))
    assert (evaluation.labels, evaluation.dimensions) == (["foreground"], len(shape))
    for name, scores in expected.items():
        oracles.assert_scores(folders.row(model, name, "foreground"), scores)
    whole = np.concatenate(p), np.concatenate(y)
    pooled = oracles.of_structure(*whole) | {"dice": oracles.dice(whole[0] > 0.5, whole[1])}
    oracles.assert_scores(folders.row(model, "pooled", "foreground"), pooled)
    for score in pooled.keys() - {"voxels", "positives"}:  # counts have no mean
        mean = model.means["all", "foreground", score]
        values = [folders.row(model, name, "foreground")[score] for name in CASES]
        assert mean.cases == 3
        assert mean.mean == pytest.approx(math.fsum(values) / 3, rel=1e-12)
        assert mean.low <= mean.mean <= mean.high


def nnunet(root, name, p, y):
    """As nnU-Net's --save_probabilities leaves it: (C, z, y, x), the hard mask, and a pickle."""
    folders.nifti(root / "labels" / f"{name}.nii.gz", y)
    folders.nifti(root / "model" / f"{name}.nii.gz", p.argmax(0).astype(np.uint8))
    np.savez_compressed(root / "model" / f"{name}.npz", probabilities=p.transpose(0, 3, 2, 1))
    # Unpickled, this would make a file.
    command = f"touch {root / 'opened'}"
    trap = f"cos\nsystem\n(S'{command}'\ntR.".encode()
    (root / "model" / f"{name}.pkl").write_bytes(trap)


def test_the_trap_would_snap(tmp_path):
    import pickle

    nnunet(tmp_path, "a", *three_cases(3)["a"])
    pickle.loads((tmp_path / "model" / "a.pkl").read_bytes())
    assert (tmp_path / "opened").exists()


def test_three_classes_in_nnunets_layout(tmp_path):
    cases = three_cases(3)
    for name, (p, y) in cases.items():
        nnunet(tmp_path, name, p, y)
    model = folders.measure(tmp_path).models["model"]
    assert not (tmp_path / "opened").exists()
    assert (model.problems, model.cases) == ([], list(CASES))
    flat = {
        name: (p.reshape(3, -1).astype(np.float64), y.ravel()) for name, (p, y) in cases.items()
    }
    flat["pooled"] = tuple(np.concatenate(part, -1) for part in zip(*flat.values(), strict=True))
    for name, (p, y) in flat.items():
        each = [oracles.of_structure(p[c], y == c) for c in (1, 2)]
        mean = oracles.of_classes(p, y)
        if name != "pooled":
            for c, scores in zip((1, 2), each, strict=True):
                scores["dice"] = oracles.dice(p.argmax(0) == c, y == c)
            mean["dice"] = np.mean([scores["dice"] for scores in each])
        for c, scores in zip((1, 2), each, strict=True):
            oracles.assert_scores(folders.row(model, name, f"class {c}"), scores)
        oracles.assert_scores(folders.row(model, name, ALL), mean)
    assert "dice" not in folders.row(model, "pooled", "class 1")  # of argmax there is no pooled one


def test_true_values_lie_within_the_bounds_of_the_row(tmp_path):
    cases = three_cases(3)
    for name, (p, y) in cases.items():
        folders.nifti(tmp_path / "labels" / f"{name}.nii", y)
        folders.nifti(tmp_path / "model" / f"{name}.nii", p)
    model = folders.measure(tmp_path, regions=("all",)).models["model"]
    flat = [(p.reshape(3, -1).astype(np.float64), y.ravel()) for p, y in cases.values()]
    p, y = (np.concatenate(part, -1) for part in zip(*flat, strict=True))
    oracle = {
        "auroc": lambda c: roc_auc_score(y == c, p[c]),
        "average_precision": lambda c: average_precision_score(y == c, p[c]),
        "equal_mass_ece": lambda c: oracles.equal_mass_ece(p[c], y == c),
    }
    rows = {row.label: row for row in model.pooled}
    assert list(rows) == ["class 1", "class 2", ALL]
    for score, of_class in oracle.items():
        true = {"class 1": of_class(1), "class 2": of_class(2)}
        true[ALL] = (true["class 1"] + true["class 2"]) / 2
        for label, row in rows.items():
            assert 0 < row.bounds[score] < 0.01
            assert abs(row.scores[score] - true[label]) <= row.bounds[score] + 1e-12
    assert all(set(row.bounds) == set(oracle) for row in (*model.pooled, *model.rows))


@pytest.mark.parametrize("bins", [10, 20])
def test_bins_and_smallest_bin(tmp_path, bins):
    written = folders.binary_folder(tmp_path, cases=2)
    model = folders.measure(tmp_path, bins=bins, minimum=120).models["model"]
    for name, (p, y) in written.items():
        expected = oracles.of_structure(p, y == 1, bins, minimum=120)
        assert expected["mce"] != oracles.of_structure(p, y == 1, bins)["mce"]
        oracles.assert_scores(folders.row(model, name, "foreground"), expected)
        assert len(model.lenses["all", "foreground"].reliability.counts) == bins


def test_paired_comparison_is_over_the_rows_of_both(tmp_path):
    written = folders.binary_folder(tmp_path, cases=7, model="good", noise=1.0)
    folders.binary_folder(tmp_path, cases=7, model="bad", noise=3.0)
    evaluation = folders.measure(tmp_path, "good", "bad")
    assert [c.metric for c in evaluation.comparisons] == ["nll", "brier", "ece", "mce", "dice"]
    good, bad = evaluation.models.values()
    for comparison in evaluation.comparisons:
        values = [
            [folders.row(model, case, "foreground")[comparison.metric] for case in written]
            for model in (good, bad)
        ]
        assert (comparison.first_mean, comparison.second_mean) == pytest.approx(np.mean(values, 1))
        assert comparison.difference.mean == pytest.approx(-np.diff(np.mean(values, 1))[0])
        assert comparison.cases == 7
