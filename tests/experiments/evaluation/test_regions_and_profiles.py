"""Which voxels count, and which scores head the tables."""

from typing import get_args

import numpy as np
import pytest
from scipy.ndimage import label as components

from gradsurge.experiments.evaluation.scoring import headline_scores
from gradsurge.experiments.evaluation.settings import ALL, Region, Settings
from tests.experiments.evaluation import folders, oracles

REGIONS = get_args(Region)
SPACING = (1.0, 1.5, 2.0)


def measured(root, number):
    """Write two cases of ``number`` classes with masks; return cases and the evaluation."""
    cases = {}
    for seed in range(2):
        name, label = f"case{seed}", folders.blobs(seed, number)
        p = folders.softmax(folders.logits(label, number, seed + 9)).astype(np.float32)
        mask = folders.random(seed).random(label.shape) < 0.3
        folders.nifti(root / "labels" / f"{name}.nii.gz", label)
        folders.nifti(root / "model" / f"{name}.nii.gz", p[1] if number == 2 else p)
        folders.nifti(root / "masks" / f"{name}.nii.gz", mask.astype(np.uint8) * 7)
        cases[name] = p.astype(np.float64), label, mask
    settings = {"regions": REGIONS, "masks": root / "masks", "band_mm": 2.0}
    return cases, folders.measure(root, **settings)


def voxels_of(p, label, mask):
    hard = p.argmax(0) if len(p) > 2 else p[1] > 0.5
    return {
        "all": np.ones(label.shape, bool),
        "active": (label > 0) | (hard > 0),
        "mask": mask,
        "band": oracles.band(label > 0, SPACING, 2.0),
    }


def test_binary_regions(tmp_path):
    cases, evaluation = measured(tmp_path, 2)
    model = evaluation.models["model"]
    for region in REGIONS:
        parts = []
        for name, (p, label, mask) in cases.items():
            inside = voxels_of(p, label, mask)[region]
            parts.append((p[1][inside], label[inside] == 1))
            expected = oracles.of_structure(*parts[-1])
            expected["dice"] = oracles.dice(p[1] > 0.5, label == 1)  # of the whole case
            oracles.assert_scores(folders.row(model, name, "foreground", region), expected)
        whole = [np.concatenate(part) for part in zip(*parts, strict=True)]
        expected = oracles.of_structure(*whole)
        oracles.assert_scores(folders.row(model, "pooled", "foreground", region), expected)
        curve = model.lenses[region, "foreground"].reliability
        rows = oracles.binned(*whole)
        filled = curve.counts > 0
        assert curve.counts[filled].tolist() == rows[:, 0].tolist()
        assert curve.probability[filled] == pytest.approx(rows[:, 1], rel=1e-9)
        assert curve.frequency[filled] == pytest.approx(rows[:, 2], rel=1e-9)


def test_regions_of_several_classes_are_those_of_their_union(tmp_path):
    cases, evaluation = measured(tmp_path, 3)
    for region in REGIONS:
        for name, (p, label, mask) in cases.items():
            inside = voxels_of(p, label, mask)[region]
            found = folders.row(evaluation.models["model"], name, ALL, region)
            oracles.assert_scores(found, oracles.of_classes(p[:, inside], label[inside]))


def test_profiles_head_the_tables_with_their_scores():
    paper, foreground = Settings(profile="paper"), Settings()
    assert headline_scores(paper, 3) == ("nll", "brier_sum", "top_ece", "top_mce", "dice")
    assert headline_scores(paper, 2) == ("nll", "brier", "top_ece", "top_mce", "dice")
    assert headline_scores(foreground, 3) == headline_scores(foreground, 2)
    assert headline_scores(foreground, 3) == ("nll", "brier", "ece", "mce", "dice")


@pytest.mark.parametrize("shape", [folders.SHAPE, (30, 40)])
def test_the_papers_profile_compares_models_on_its_own_scores(tmp_path, shape):
    affine = np.eye(4)
    for seed in range(6):
        label = folders.blobs(seed, shape=shape)
        folders.nifti(tmp_path / "labels" / f"{seed}.nii", label, affine)
        for model, noise in (("a", 1.0), ("b", 2.0)):
            p = folders.softmax(folders.logits(label, 2, seed + 9, noise)).astype(np.float32)
            folders.nifti(tmp_path / model / f"{seed}.nii", p[1], affine)
    evaluation = folders.measure(tmp_path, "a", "b", profile="paper")
    brier = "brier_sum" if len(shape) == 3 else "brier"
    assert evaluation.dimensions == len(shape)
    assert [c.metric for c in evaluation.comparisons] == [
        "nll",
        brier,
        "top_ece",
        "top_mce",
        "dice",
    ]
    expected = np.mean([r.scores[brier] for r in evaluation.models["a"].rows if r.region == "all"])
    assert evaluation.comparisons[1].first_mean == pytest.approx(expected)


def test_lesions_and_surfaces_of_the_cases(tmp_path):
    written = folders.binary_folder(tmp_path, cases=2)
    model = folders.measure(tmp_path, surface_mm=1.5).models["model"]
    everywhere = np.ones((3, 3, 3))
    lesions, predicted = 0, 0
    for p, y in written.values():
        lesions += components(y, everywhere)[1]
        predicted += components(p > 0.5, everywhere)[1]
    summary = model.lesions["foreground"]
    assert (len(summary.lesions), summary.predicted_components) == (lesions, predicted)
    volume = sum(x.volume for x in summary.lesions)
    assert volume == pytest.approx(3.0 * sum(y.sum() for _, y in written.values()))
    for case in written:
        scores = folders.row(model, case, "foreground")
        assert 0 < scores["nsd"] <= 1
        assert 0 < scores["hd95"] < 40


@pytest.mark.parametrize("bins", [3, 20])
def test_the_ece_of_lesions_has_the_bins_that_are_asked_for(tmp_path, bins):
    written = folders.binary_folder(tmp_path, cases=1)
    summary = folders.measure(tmp_path, bins=bins).models["model"].lesions["foreground"]
    ((p, y),) = written.values()
    found, number = components(y, np.ones((3, 3, 3)))
    expected = []
    for k in range(1, number + 1):
        inside = p[found == k].astype(np.float64)
        sure, right = np.maximum(inside, 1 - inside), inside > 0.5
        place = np.ceil(sure * bins)
        gaps = [abs((sure - right)[place == b].sum()) for b in range(bins + 1)]
        expected.append(sum(gaps) / len(inside))
    shown = [lesion.top_label_ece for lesion in summary.lesions]
    assert sorted(shown) == pytest.approx(sorted(expected))


def test_an_empty_mask_scores_nothing_and_breaks_nothing(tmp_path):
    folders.binary_folder(tmp_path, cases=2)
    for case, share in (("case0", 0.0), ("case1", 0.5)):
        mask = folders.random(1).random(folders.SHAPE) < share
        folders.nifti(tmp_path / "masks" / f"{case}.nii", mask.astype(np.uint8))
    evaluation = folders.measure(tmp_path, regions=("mask",), masks=tmp_path / "masks")
    model = evaluation.models["model"]
    empty = folders.row(model, "case0", "foreground", "mask")
    assert empty["voxels"] == 0
    assert np.isnan(empty["nll"])
    assert model.means["mask", "foreground", "nll"].cases == 1


def test_lesions_of_images_of_odd_width(tmp_path):
    lesions = 0
    for seed in range(12):
        label = (folders.random(seed).random((21, 31)) < 0.2).astype(np.uint8)
        p = np.where(label, 0.8, 0.1).astype(np.float32)
        folders.nifti(tmp_path / "labels" / f"{seed}.nii", label, np.eye(4))
        folders.nifti(tmp_path / "model" / f"{seed}.nii", p, np.eye(4))
        lesions += components(label, np.ones((3, 3)))[1]
    try:
        model = folders.measure(tmp_path).models["model"]
    except (ZeroDivisionError, RuntimeError) as error:
        raise AssertionError(error) from error
    assert len(model.lesions["foreground"].lesions) == lesions
