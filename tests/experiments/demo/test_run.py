"""A whole demo, small: its table against scikit-learn and plain loops on the files it wrote."""

import json
import math
import shutil

import nibabel
import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, log_loss

from gradsurge.data.phantoms import make_phantom
from gradsurge.data.store import Store
from gradsurge.experiments.demo import COMPARED, POSTERIOR, plan_phantoms, run_demo, smoke
from gradsurge.experiments.demo import predictions as predictions_module
from gradsurge.experiments.demo import score_rows as score_rows_module
from gradsurge.experiments.demo import trainings as trainings_module
from gradsurge.experiments.demo.cases import HeldOut
from gradsurge.experiments.demo.compared import CORRECTED, SURGERY
from gradsurge.experiments.demo.posterior_threshold import posterior_threshold
from gradsurge.experiments.demo.watcher import DemoStopped
from gradsurge.experiments.runs import open_run
from gradsurge.experiments.runs.run import RunResult

FOLDERS = {row.name: row.folder for row in COMPARED} | {POSTERIOR: POSTERIOR}


def voxels(folder):
    """All voxels of all cases, in the order of the names."""
    files = sorted(folder.glob("*.nii.gz"))
    return [np.asarray(nibabel.load(file).dataobj, np.float64) for file in files]


def pooled(arrays):
    return np.concatenate([array.ravel() for array in arrays])


def plain_ece(p, y, bins=15):
    edges = np.linspace(0, 1, bins + 1)
    total = 0.0
    for k in range(bins):
        inside = (p > edges[k]) & (p <= edges[k + 1]) if k else p <= edges[1]
        if inside.any():
            total += inside.sum() * abs(p[inside].mean() - y[inside].mean())
    return total / len(p)


@pytest.mark.parametrize("name", FOLDERS)
def test_scores_are_those_of_the_files(finished, name):
    row, out = finished.rows[name], finished.out
    p, y = pooled(voxels(out / "predictions" / FOLDERS[name])), pooled(voxels(out / "labels"))
    assert row.nll == pytest.approx(log_loss(y, np.clip(p, 1e-12, 1 - 1e-12)), rel=1e-6)
    assert row.brier == pytest.approx(brier_score_loss(y, p), rel=1e-6)
    assert row.ece == pytest.approx(plain_ece(p, y), rel=1e-5)


@pytest.mark.parametrize("name", [row.name for row in COMPARED])
def test_dice_is_of_the_uncorrected_masks(finished, name):
    folder = finished.out / "predictions" / FOLDERS[name]
    masks, labels = voxels(folder / "masks"), voxels(finished.out / "labels")
    scores = [2 * np.sum(m * y) / (m.sum() + y.sum()) for m, y in zip(masks, labels, strict=True)]
    assert finished.rows[name].dsc == pytest.approx(100 * np.mean(scores))
    run = open_run(finished.out / "runs" / ("dice-surgery" if "surgery" in name else FOLDERS[name]))
    assert finished.rows[name].mask == f"p > {run.threshold[0]:.2f}"


def test_a_correction_changes_probabilities_and_no_mask(finished):
    raw, corrected = (finished.out / "predictions" / FOLDERS[n] for n in (SURGERY, CORRECTED))
    assert all(map(np.array_equal, voxels(raw / "masks"), voxels(corrected / "masks")))
    assert not np.allclose(pooled(voxels(raw)), pooled(voxels(corrected)))
    assert finished.rows[SURGERY].dsc == finished.rows[CORRECTED].dsc


@pytest.mark.parametrize("name", FOLDERS)
def test_distances_are_from_the_posterior_the_phantoms_were_made_with(finished, name):
    folder = finished.out / "predictions" / FOLDERS[name]
    files = sorted(folder.glob("*.nii.gz"))
    indices = [int(file.name.removesuffix(".nii.gz").rpartition("_")[2]) for file in files]
    assert indices == [4, 9]  # the test cases of ten
    q = pooled([make_phantom("lesions-2d", i, 0, (32, 32)).posterior[0] for i in indices])
    p, row = pooled(voxels(folder)), finished.rows[name]
    assert row.distance == pytest.approx(np.abs(p - q).mean(), rel=1e-6, abs=1e-9)
    assert row.rms == pytest.approx(np.sqrt(np.mean((p - q) ** 2)), rel=1e-6, abs=1e-9)


def test_the_truth_is_cut_where_it_was_best_on_validation_cases(finished):
    """Every threshold between two values is tried on phantoms made anew."""
    cases = Store.open(finished.out / "store").split("validation")
    made = [make_phantom("lesions-2d", int(n.rpartition("_")[2]), 0, (32, 32)) for n in cases]
    q = pooled([phantom.posterior[0] for phantom in made])
    y = pooled([phantom.label for phantom in made]) == 1
    values = np.unique(q)
    dice = [2 * np.sum((q > t) & y) / (np.sum(q > t) + y.sum()) for t in values[:-1]]
    row = finished.rows[POSTERIOR]
    threshold = posterior_threshold(Store.open(finished.out / "store"))
    assert row.mask == f"q > {threshold:.2f}"
    reached = 2 * np.sum((q > threshold) & y) / (np.sum(q > threshold) + y.sum())
    assert reached == pytest.approx(max(dice), rel=1e-3)
    maps = voxels(finished.out / "predictions" / POSTERIOR)
    masks, labels = [p > threshold for p in maps], voxels(finished.out / "labels")
    scores = [2 * np.sum(m * y) / (m.sum() + y.sum()) for m, y in zip(masks, labels, strict=True)]
    assert row.dsc == pytest.approx(100 * np.mean(scores))


def test_a_case_with_nothing_in_mask_and_label_does_not_count(finished, monkeypatch):
    scores = iter([math.nan, 0.5])
    monkeypatch.setattr(score_rows_module, "dice", lambda *_: next(scores))
    out = finished.out
    held_out = HeldOut("test", [], out / "labels", out / "images", out / "predictions" / POSTERIOR)
    found = score_rows_module._of_truth(finished.evaluation, held_out, held_out.posterior, 0.5)
    assert found.dsc == 50.0


def test_looks_hold_every_model_and_the_truth(finished):
    assert finished.looks
    for look in finished.looks:
        assert set(look.maps) == set(FOLDERS)
        label = nibabel.load(finished.out / "labels" / f"{look.case}.nii.gz")
        assert np.array_equal(look.label, np.flip(np.asarray(label.dataobj).T, 0) == 1)
        assert look.image is not None
        assert look.image.shape == look.label.shape


def test_the_watcher_hears_every_stage_to_its_end(finished, log):
    steps = finished.training["steps"]
    assert log.stages == {
        "preparing the cases": 10,
        "training cross-entropy": steps,
        "training Dice": steps,
        "training Dice surgery": steps,
        "predicting held-out cases": 8,
        "measuring": 10,
    }
    for title in ("preparing the cases", "training Dice", "predicting held-out cases", "measuring"):
        assert log.parts[title][-1][0] == log.stages[title]
    assert "Dice 0." in log.parts["training Dice"][-1][1]
    validation = "measuring the best weights on all validation cases"
    assert log.notes == [(title, validation) for title in log.stages if "training" in title]


def test_results_are_kept_for_machines(finished):
    stored = json.loads((finished.out / "results.json").read_text())
    assert [row["name"] for row in stored["rows"]] == list(FOLDERS)
    assert stored["rows"][1]["nll"] == finished.rows["Dice"].nll
    assert "masks" in stored["says"][0]
    assert "closed-form correction" in stored["says"][1]
    assert stored["cases"] == {"train": 6, "validation": 2, "test": 2}


def test_the_same_demo_again_trains_nothing_and_keeps_what_a_user_put_there(finished):
    mine = finished.out / "images" / "mine.txt"
    mine.write_text("mine")
    before = {f: f.stat().st_mtime_ns for f in (finished.out / "runs").rglob("*.pt")}
    assert before
    again = run_demo(finished.plan, finished.out)
    assert mine.read_text() == "mine"
    assert {f: f.stat().st_mtime_ns for f in (finished.out / "runs").rglob("*.pt")} == before
    assert dict(again.rows) == dict(finished.rows)
    assert all(finished.minutes.values())
    assert not any(again.minutes.values())


def test_a_stopped_training_tells_where_it_stopped(tmp_path, monkeypatch):
    def interrupted(config, out, **_):
        return RunResult(out, config, "interrupted", 2, 0.1, None)

    monkeypatch.setattr(trainings_module, "train_run", interrupted)
    with pytest.raises(DemoStopped, match="training cross-entropy, step 2 of 3"):
        run_demo(smoke(plan_phantoms("2d", 0)), tmp_path / "demo")


def test_without_an_equilibrium_there_is_no_corrected_line(finished, monkeypatch, tmp_path):
    monkeypatch.setattr(predictions_module, "_has_correction", lambda _, name: name == "none")
    shutil.copytree(finished.out, tmp_path / "demo")
    again = run_demo(finished.plan, tmp_path / "demo")
    assert CORRECTED not in again.rows
    assert len(again.rows) == 4


def test_three_dimensions_go_the_same_way(tmp_path):
    result = run_demo(smoke(plan_phantoms("3d", 0)), tmp_path / "demo")
    assert list(result.rows) == list(FOLDERS)
    assert result.evaluation.dimensions == 3
    (look, *_) = result.looks
    label = np.asarray(nibabel.load(tmp_path / "demo" / "labels" / f"{look.case}.nii.gz").dataobj)
    fullest = label[..., label.sum(axis=(0, 1)).argmax()]
    assert np.array_equal(look.label, np.flip(fullest.T, 0) == 1)
