"""Runs measured in memory, against the way over files and against scikit-learn."""

import shutil
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from sklearn import metrics
from sklearn.calibration import calibration_curve

from gradsurge.data import LabelSet, read_label
from gradsurge.data.grid import Grid
from gradsurge.data.store import Store
from gradsurge.experiments.evaluation.run import evaluate
from gradsurge.experiments.evaluation.settings import ALL, Settings
from gradsurge.experiments.prediction.predicting import predict
from gradsurge.experiments.prediction.settings import PredictSettings
from gradsurge.experiments.recipes import read_recipe
from gradsurge.experiments.study import MeasureSettings, measure_run, shifted_scores
from gradsurge.experiments.study import run_maps as run_maps_module
from gradsurge.experiments.study.case_voxels import on_source
from gradsurge.experiments.study.kept_records import KeptRecords
from gradsurge.experiments.study.record import write_record
from gradsurge.experiments.study.shifts import shifted
from gradsurge.training.inference import sliding_window_logits
from tests.experiments.runs.stores import disc_store
from tests.experiments.study.records import record

LESIONS = MeasureSettings(lesions=True)
SETTINGS = {
    "resampled": Settings(allow_empty=True),
    "merged": Settings(label_sets=(LabelSet("both", (1, 2)),), allow_empty=True),
    "regions": Settings(
        multilabel=True,
        label_sets=(LabelSet("whole", (1, 2)), LabelSet("core", (2,))),
        allow_empty=True,
    ),
}
NAMES = {"class 1": "organ", "class 2": "lesion"}


@pytest.fixture(scope="module")
def results(resampled, merged, regions):
    runs = {"resampled": resampled, "merged": merged, "regions": regions}
    return {
        kind: (raw, store, run, measure_run(run, store, settings=LESIONS))
        for kind, (raw, store, run) in runs.items()
    }


@pytest.mark.parametrize(
    ("kind", "correction"),
    [
        ("resampled", "none"),
        ("resampled", "equilibrium"),
        ("merged", "equilibrium"),
        ("merged", "temperature"),
        ("regions", "none"),
        ("regions", "bias"),
    ],
)
def test_as_over_files(results, tmp_path, kind, correction):
    raw, store, run, found = results[kind]
    chosen = PredictSettings(correction=correction, device="cpu")
    predict([run.folder], store.path, tmp_path, chosen, split="test")
    files = evaluate({"run": tmp_path}, raw / "labelsTr", SETTINGS[kind]).models["run"]
    assert files.own_masks
    assert found.cases == files.cases
    # Written in float32: of logits, probabilities in float64 differ in the seventh digit.
    close = {"rel": 1e-9} if found.likelihood == "probabilities" else {"rel": 1e-4, "abs": 1e-7}
    for row in files.pooled:
        mine = found.pooled[correction][row.region][NAMES.get(row.label, row.label)]
        assert mine == pytest.approx({name: row.scores[name] for name in mine}, **close)
    for (region, label, name), mean in files.means.items():
        structure = NAMES.get(label, label)
        mine = found.means[correction][region][structure]
        if name in mine:
            assert mine[name] == pytest.approx(mean.mean, **close)
        if (name, region) == ("dice", "all"):
            assert found.dice["own"][structure] == pytest.approx(mean.mean)
    for label, lesions in files.lesions.items():
        rows = found.lesions[NAMES.get(label, label)][correction]
        assert sum(row["count"] for row in rows) == len(lesions.lesions)
        assert sum(row["own_detected"] for row in rows) == sum(x.detected for x in lesions.lesions)
        ece = sum((row["ece"] or 0.0) * row["count"] for row in rows) / len(lesions.lesions)
        assert ece == pytest.approx(np.mean([x.ece for x in lesions.lesions]), rel=1e-5)


def test_voxels_and_corrections(results):
    assert {k: r[3].likelihood for k, r in results.items()} == {
        "resampled": "probabilities",
        "merged": "logits",
        "regions": "probabilities",
    }
    assert {k: r[3].headline for k, r in results.items()} == {
        "resampled": ALL,
        "merged": "both",
        "regions": ALL,
    }
    assert list(results["merged"][3].pooled) == ["none", "equilibrium", "bias", "temperature"]
    assert list(results["regions"][3].pooled) == ["none", "bias", "temperature"]


@pytest.fixture(scope="module")
def voxels(results):
    """Logits of our own, and the raw labels, of the test cases of the merged store."""
    raw, store, run, found = results["merged"]
    model, window = run.model(), tuple(run.config.model.patch)
    logits, truth = {}, {}
    for name in found.cases:
        image = torch.from_numpy(store.case(name).read_image())
        with torch.inference_mode():
            logits[name] = sliding_window_logits(model, image, window).double().numpy()
        truth[name] = read_label(raw / "labelsTr" / f"{name}.nii.gz").array > 0
        assert truth[name].sum() == (store.case(name).read_label() > 0).sum()
    labels = {name: store.case(name).read_label() > 0 for name in logits}
    return logits, labels


def p_of(z):
    return 1 / (1 + np.exp(z[0] - z[1]))


def calibration_error(y, p):
    true, mean = calibration_curve(y, p, n_bins=15, strategy="uniform")
    counts = np.histogram(p, np.linspace(0, 1, 16))[0]
    gaps = np.abs(true - mean)
    return (gaps * counts[counts > 0]).sum() / len(p), gaps.max()


def test_as_scikit_learn(results, voxels):
    logits, labels = voxels
    found = results["merged"][3]
    p = np.concatenate([p_of(z).ravel() for z in logits.values()])
    y = np.concatenate([label.ravel() for label in labels.values()])
    pooled = found.pooled["none"]["all"]["both"]
    assert pooled["nll"] == pytest.approx(metrics.log_loss(y, p))
    assert pooled["brier"] == pytest.approx(metrics.brier_score_loss(y, p))
    assert (pooled["ece"], pooled["mce"]) == pytest.approx(calibration_error(y, p))
    active = (p > 0.5) | y
    inside = found.pooled["none"]["active"]["both"]
    assert inside["nll"] == pytest.approx(metrics.log_loss(y[active], p[active], labels=[0, 1]))
    for place, name in enumerate(found.cases):
        p, y = p_of(logits[name]).ravel(), labels[name].ravel()
        mine = {k: v[place] for k, v in found.by_case["none"]["all"].items()}
        top = calibration_error((p > 0.5) == y, np.maximum(p, 1 - p))
        assert mine["nll"] == pytest.approx(metrics.log_loss(y, p))
        assert (mine["top_ece"], mine["top_mce"]) == pytest.approx(top)
        assert mine["dice"] == pytest.approx(metrics.f1_score(y, p > 0.5))
        own = metrics.f1_score(y, p > np.float32(results["merged"][2].threshold[0]))
        assert mine["own_dice"] == pytest.approx(own)


def test_volumes_and_logits(results, voxels):
    logits, labels = voxels
    found = results["merged"][3]
    volumes = found.volumes["both"]
    ml = 2.0 * 1.5 * 3.0 / 1000  # the spacing of the fakes
    assert volumes["true"] == pytest.approx([ml * y.sum() for y in labels.values()])
    assert volumes["expected"]["none"] == pytest.approx(
        [ml * p_of(z).sum() for z in logits.values()]
    )
    assert volumes["plain"] == pytest.approx([ml * (p_of(z) > 0.5).sum() for z in logits.values()])
    z = np.concatenate([z.reshape(2, -1) for z in logits.values()], axis=1)
    y = np.concatenate([label.ravel() for label in labels.values()])
    means = found.logits["both"]["means"]
    for t, inside in enumerate((~y, y)):
        assert means[t] == pytest.approx(z[:, inside].mean(1), rel=1e-5)


def test_shifts_are_pooled_over_cases(results, voxels, monkeypatch):
    _, store, run, _ = results["merged"]
    monkeypatch.setattr(shifted_scores, "STRENGTHS", {"noise": (0.3, 0.5)})
    found = measure_run(run, store, settings=MeasureSettings(shift=True))
    by_correction = found.shift["noise"]
    assert set(by_correction) == set(found.pooled)
    model, window = run.model(), tuple(run.config.model.patch)
    p, y = [], []
    for name, label in voxels[1].items():
        image = torch.from_numpy(shifted(store.case(name).read_image(), "noise", 0.5, name))
        with torch.inference_mode():
            z = sliding_window_logits(model, image, window).double().numpy()
        p.append(p_of(z).ravel())
        y.append(label.ravel())
    assert by_correction["none"]["dice"][1] == pytest.approx(
        np.mean([metrics.f1_score(t, q > 0.5) for t, q in zip(y, p, strict=True)])
    )
    p, y = np.concatenate(p), np.concatenate(y)
    assert by_correction["none"]["nll"][1] == pytest.approx(metrics.log_loss(y, p))
    assert by_correction["none"]["brier"][1] == pytest.approx(metrics.brier_score_loss(y, p))
    assert by_correction["none"]["ece"][1] == pytest.approx(calibration_error(y, p)[0])


def test_a_case_that_is_lost_under_one_shift_leaves_the_others_and_the_record(results, monkeypatch):
    _, store, run, _ = results["merged"]
    monkeypatch.setattr(shifted_scores, "STRENGTHS", {"noise": (0.3, 0.5)})
    whole = measure_run(run, store, settings=MeasureSettings(shift=True))
    first = store.split("test")[0]

    def overflows(image, kind, strength, case, seed):
        moved = shifted(image, kind, strength, case, seed)
        return moved * np.float32(np.inf) if (case, strength) == (first, 0.5) else moved

    monkeypatch.setattr(shifted_scores, "shifted", overflows)
    found = measure_run(run, store, settings=MeasureSettings(shift=True))
    ((where, why),) = found.problems
    assert where == f"{first} under noise 0.5"
    assert "NaN or infinite" in why
    assert found.cases == whole.cases
    assert found.pooled == whole.pooled
    stored = found.to_json()["shift"]["noise"]
    for correction, scores in whole.to_json()["shift"]["noise"].items():
        assert stored[correction] == {name: [values[0], None] for name, values in scores.items()}


def test_a_lost_raw_label_is_one_cases_problem(resampled, tmp_path):
    raw, store, run = resampled
    shutil.copytree(raw, tmp_path / "raw")
    moved = Store(store.path, replace(store.dataset, raw=str(tmp_path / "raw")))
    first, *others = store.split("test")
    (tmp_path / "raw" / "labelsTr" / f"{first}.nii.gz").unlink()
    found = measure_run(run, moved)
    assert found.cases == others
    assert [case for case, _ in found.problems] == [first]
    assert "the raw folder must stay where" in found.problems[0][1]
    shutil.rmtree(tmp_path / "raw")
    with pytest.raises(ValueError, match="none of its 2 test cases could be measured"):
        measure_run(run, moved)


def test_another_raw_label_is_refused(resampled, tmp_path):
    raw, store, run = resampled
    shutil.copytree(raw, tmp_path / "raw")
    first = store.split("test")[0]
    label = tmp_path / "raw" / "labelsTr" / f"{first}.nii.gz"
    import nibabel

    nibabel.save(nibabel.Nifti1Image(np.zeros((3, 3, 3), np.uint8), np.eye(4)), label)
    found = measure_run(run, Store(store.path, replace(store.dataset, raw=str(tmp_path / "raw"))))
    assert "has shape (3, 3, 3), expected (14, 12, 10)" in dict(found.problems)[first]


def test_a_network_that_returns_nan(merged, monkeypatch):
    _, store, run = merged

    def broken(model, image, window, **_):
        return torch.full((2, *image.shape[1:]), torch.nan)

    monkeypatch.setattr(run_maps_module, "sliding_window_logits", broken)
    with pytest.raises(ValueError, match="returns NaN or infinite values"):
        measure_run(run, store)


def test_stores_that_do_not_go_with_the_run(merged, tmp_path):
    _, store, run = merged
    with pytest.raises(
        ValueError, match=r"is not prepared as the store of .* their data sets differ"
    ):
        measure_run(run, disc_store(tmp_path))
    ignoring = Store(store.path, replace(store.dataset, ignore_label=3))
    with pytest.raises(ValueError, match="has an ignore label"):
        measure_run(run, ignoring)
    empty = Store(store.path, replace(store.dataset, splits={**store.dataset.splits, "test": []}))
    with pytest.raises(ValueError, match="its split 'test' has no case"):
        measure_run(run, empty)
    with pytest.raises(ValueError, match="no split 'tset'"):
        measure_run(run, store, "tset")
    with pytest.raises(ValueError, match="device: 'gpu' is not to be had"):
        measure_run(run, store, device="gpu")


@pytest.mark.parametrize(
    ("name", "on_files"), [("kits", False), ("brats-mets", False), ("nnunet", True)]
)
def test_the_papers_volumes_are_measured_as_prepared(name, on_files):
    cut = Grid((9, 9, 9), (1.0,) * 3, None, (0, 1, 2), (False,) * 3, (9, 9, 9), ((1, 8),) * 3)
    store = SimpleNamespace(dataset=SimpleNamespace(name=name))
    assert on_source(store, SimpleNamespace(grid=cut)) == on_files


@pytest.mark.parametrize(("likelihood", "kept"), [("logits", 1), ("probabilities", 0)])
def test_records_of_whole_scans_do_not_count_for_the_papers_volumes(tmp_path, likelihood, kept):
    made = record("dice", likelihood=likelihood)
    write_record(tmp_path, replace(made, recipe="kits"))
    assert len(KeptRecords(read_recipe("kits"), tmp_path).all()) == kept
