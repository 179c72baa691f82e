"""metrics.json and cases.csv: read back by others, to the last bit."""

import csv
import json
import math

import numpy as np
import pytest

from gradsurge.data import parse_label_set
from gradsurge.experiments.evaluation.definitions import ALL_STRUCTURES
from gradsurge.experiments.evaluation.files import as_json, write_cases, write_metrics
from gradsurge.experiments.evaluation.settings import ALL
from gradsurge.report.evaluation.lesion_tables import lesion_sections
from tests.experiments.evaluation import folders

NAMES = ["=1+1", "+x", "-x", "@x", 'a,"b"', "plain", "<b>", "ünïcode"]


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory):
    """Hostile names, an empty label, infinite distances, and two structures."""
    root = tmp_path_factory.mktemp("files")
    for seed, name in enumerate(NAMES):
        y = folders.blobs(seed, 3)
        if name == "plain":
            y[:] = 0
        folders.nifti(root / "labels" / f"{name}.nii", y)
        p = folders.softmax(folders.logits(y, 3, seed)).astype(np.float32)
        folders.nifti(root / "model" / f"{name}.nii", p)
    folders.nifti(root / "model" / "lonely.nii", p)
    sets = (parse_label_set("=tumour=2"), parse_label_set("kidney+tumour=1,2"))
    return folders.measure(root, label_sets=sets, allow_empty=True, surface_mm=1.0)


def strict(text):
    """Parse JSON as others do: NaN and Infinity are no numbers."""

    def refuse(constant):
        raise AssertionError(constant)

    return json.loads(text, parse_constant=refuse)


def test_metrics_are_strict_json(evaluation, tmp_path):
    write_metrics(evaluation, tmp_path / "deep" / "metrics.json")
    text = (tmp_path / "deep" / "metrics.json").read_text(encoding="utf-8")
    found = strict(text)
    assert found == strict(json.dumps(as_json(evaluation)))
    assert [p.name for p in (tmp_path / "deep").iterdir()] == ["metrics.json"]
    assert found["structures"] == ["=tumour", "kidney+tumour"]
    assert found["settings"]["label_sets"] == {"=tumour": [2], "kidney+tumour": [1, 2]}
    model = found["models"]["model"]
    assert (model["cases"], model["problems"]) == (8, 1)
    assert found["problems"][0]["case"] == "lonely"
    assert model["mean_over_cases"]["all"][ALL]["hd95"]["mean"] is None  # infinite
    assert set(model["lesions"]) == {"=tumour", "kidney+tumour"}


def test_numbers_of_metrics_are_those_of_the_evaluation(evaluation):
    found = strict(json.dumps(as_json(evaluation)))["models"]["model"]
    model = evaluation.models["model"]
    for (region, label, score), mean in model.means.items():
        assert found["mean_over_cases"][region][label][score]["mean"] == mean.mean
    for row in model.pooled:
        for score, value in row.scores.items():
            assert found["pooled"][row.region][row.label][score] in (value, None)
    curve = model.lenses["all", "=tumour"].reliability
    stored = found["reliability"]["all/=tumour"]
    assert stored["counts"] == curve.counts.tolist()
    assert [math.nan if v is None else v for v in stored["low"]] == pytest.approx(
        curve.low.tolist(), nan_ok=True
    )


def read(file):
    with file.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def test_cases_round_trip_exactly(evaluation, tmp_path):
    write_cases(evaluation, tmp_path / "cases.csv")
    rows = evaluation.models["model"].rows
    found = read(tmp_path / "cases.csv")
    assert len(found) == len(rows) == 8 * 2 * 3
    for line, row in zip(found, rows, strict=True):
        assert line["case"].removeprefix("'") == row.case
        assert line["structure"].removeprefix("'") == row.label
        assert (line["model"], line["region"]) == (row.model, row.region)
        for name, value in row.scores.items():
            if math.isnan(value):
                assert line[name] == ""
            else:
                assert float(line[name]) == value
    assert any(line["hd95"] == "inf" for line in found)
    assert {line["positives"] for line in found if line["case"] == "plain"} == {"0"}


def test_no_cell_is_a_formula(evaluation, tmp_path):
    write_cases(evaluation, tmp_path / "cases.csv")
    for line in read(tmp_path / "cases.csv"):
        for name in ("model", "case", "region", "structure"):
            assert not line[name].startswith(("=", "+", "-", "@", "\t", "\r"))
        for name in set(line) - {"model", "case", "region", "structure"}:
            assert line[name] == "" or float(line[name]) >= 0


def test_a_reader_never_sees_half_a_file(evaluation, tmp_path, monkeypatch):
    file = tmp_path / "cases.csv"
    write_cases(evaluation, file)
    before = file.read_bytes()

    def full_disk(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full_disk)
    with pytest.raises(OSError, match="No space"):
        write_cases(evaluation, file)
    assert file.read_bytes() == before
    assert [f.name for f in tmp_path.iterdir()] == ["cases.csv"]


def test_bounds_of_pooled_numbers_are_beside_them(evaluation):
    found = strict(json.dumps(as_json(evaluation)))["models"]["model"]
    for row in evaluation.models["model"].pooled:
        bounds = found["pooled_bounds"][row.region][row.label]
        assert set(bounds) == {"auroc", "average_precision", "equal_mass_ece"}
        for score, bound in bounds.items():
            assert bound == row.scores[score].error
    for label, best in found["best_thresholds"].items():
        dice = evaluation.models["model"].lenses["all", label].best_dice
        assert (best["dice"], best["dice_bound"]) == (dice, dice.error)


def test_the_row_of_all_structures_is_defined(evaluation):
    assert as_json(evaluation)["definitions"] == {ALL: ALL_STRUCTURES["multilabel"]}
    rows = {r.label: r.scores for r in evaluation.models["model"].pooled if r.region == "all"}
    first, second = rows["=tumour"], rows["kidney+tumour"]
    for score in first.keys() - {"voxels", "positives", "brier_sum", "dice"}:
        assert rows[ALL][score] == pytest.approx((first[score] + second[score]) / 2), score
    assert rows[ALL]["brier_sum"] == pytest.approx(first["brier"] + second["brier"])
    assert "class_wise_ece" not in rows[ALL]


def test_clipped_outcomes_are_counted_by_region(tmp_path):
    p, y = folders.binary_folder(tmp_path, cases=1)["case0"]
    p = p.copy()
    p[y == 1] = np.maximum(p[y == 1], 0.1)
    p[tuple(np.argwhere(y == 1)[:3].T)] = 0.0  # labels that were given no chance at all
    p[tuple(np.argwhere(y == 0)[:2].T)] = 1.0
    folders.nifti(tmp_path / "model" / "case0.nii.gz", p)
    model = as_json(folders.measure(tmp_path, regions=("all", "mask"), masks=tmp_path / "labels"))
    assert model["models"]["model"]["clipped"] == {"all": 5, "mask": 3}


def test_sizes_of_lesions_are_those_of_all_models(tmp_path):
    folders.binary_folder(tmp_path, cases=5, model="full", shape=(24, 24, 24))
    folders.binary_folder(tmp_path, cases=2, model="part", shape=(24, 24, 24))
    found = folders.measure(tmp_path, "full", "part")
    (section,) = lesion_sections(found)
    volumes = [x.volume for x in found.models["full"].lesions["foreground"].lesions]
    inner = np.unique(np.quantile(volumes, (0.25, 0.5, 0.75)))
    models = as_json(found)["models"]
    for name, shown in zip(("full", "part"), section.models, strict=True):
        sizes = models[name]["lesions"]["foreground"]["sizes"]
        assert [row["low"] for row in sizes] == [0.0, *inner[inner > min(volumes)]]
        assert [row["count"] for row in sizes] == [row.count for _, row in shown.rows[:-1]]
        assert sum(row["count"] for row in sizes) == len(
            found.models[name].lesions["foreground"].lesions
        )
