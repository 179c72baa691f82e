"""The demo on nnU-Net's folders: classes, regions, no test set, faults."""

import json
import os

import nibabel
import numpy as np
import pytest

from gradsurge.cli.demo_output import print_demo
from gradsurge.experiments.demo import plan_real, run_demo, smoke
from gradsurge.experiments.demo.measuring import settings_of
from gradsurge.experiments.demo.reading import caveats
from gradsurge.experiments.demo.side_by_side import at_quartiles
from gradsurge.experiments.runs import Task
from gradsurge.report.demo.page import render, write_pages
from gradsurge.report.figures import demo_maps
from tests.experiments.demo.conftest import Log
from tests.experiments.prediction.fakes import raw_tree

CASES = tuple(f"case{i}" for i in range(8))


def test_two_classes_without_a_posterior(tmp_path):
    labels = {"background": 0, "rim": 1, "core": 2}
    raw = raw_tree(tmp_path / "raw", labels, CASES, shape=(17, 18, 16))
    (raw / "labelsTr" / "case7.nii.gz").write_bytes(b"broken")
    result = run_demo(smoke(plan_real(raw, 0)), tmp_path / "demo")
    assert not result.has_posterior
    assert list(result.rows) == [
        "cross-entropy",
        "Dice",
        "Dice surgery",
        "Dice surgery corrected",
    ]
    assert result.evaluation.labels == ["class 1", "class 2"]
    assert result.split == "test"
    assert result.evaluation.settings.label_sets == ()
    (problem,) = result.problems
    assert problem.startswith("case7: ")
    assert all(0 <= row.dsc <= 100 for row in result.rows.values())
    assert all(look.image is not None for look in result.looks)
    assert "<h2>Reliability: class 1</h2>" in render(result, None)
    figure = demo_maps.draw(demo_maps.compute(result.looks))
    named = [axis.get_ylabel() for axis in figure.axes if axis.get_ylabel() != "probability"]
    assert [name for name in named if name] == [f"{k.case}: {k.structure}" for k in result.looks]


def test_validation_cases_where_there_is_no_test_set(tmp_path, capsys):
    raw = raw_tree(tmp_path / "raw", cases=CASES[:5], shape=(16, 16, 16))
    folds = [{"train": ["case0", "case1", "case2"], "val": ["case3", "case4"]}]
    (raw / "splits_final.json").write_text(json.dumps(folds))
    result = run_demo(smoke(plan_real(raw, 0)), tmp_path / "demo")
    assert result.split == "validation"
    assert result.evaluation.models["Dice"].cases == ["case3", "case4"]
    assert result.evaluation.labels == ["lesion"]
    assert "also chose the weights and the thresholds" in " ".join(caveats(result))
    text = (result.out / write_pages(result)[0]).read_text()
    assert "also chose the weights and the thresholds" in text
    print_demo(result, [str(result.out / "report.html")], as_json=False)
    printed = " ".join(capsys.readouterr().out.split())
    assert "also chose the weights and the thresholds" in printed

    shown_again = smoke(plan_real(raw, 0))
    for file in (raw / "labelsTr").iterdir():  # the same content at another time
        os.utime(file, ns=(1, 1))
    log = Log()
    assert dict(run_demo(shown_again, result.out, watcher=log).rows) == dict(result.rows)
    assert ("training Dice", "kept, trained before") in log.notes
    label = nibabel.load(raw / "labelsTr" / "case3.nii.gz")
    flipped = 1 - np.asarray(label.dataobj, dtype=np.uint8)
    nibabel.save(nibabel.Nifti1Image(flipped, label.affine, label.header), label.get_filename())
    with pytest.raises(ValueError, match="the data changed since these models were trained"):
        run_demo(shown_again, result.out)
    with pytest.raises(ValueError, match="the data changed since these models were trained"):
        run_demo(shown_again, result.out)  # not only the first time


def test_an_ignore_label_is_refused(tmp_path):
    raw = raw_tree(tmp_path / "raw", {"background": 0, "lesion": 1, "ignore": 2}, CASES[:5])
    with pytest.raises(ValueError, match="ignore label, which a demo does not measure"):
        run_demo(smoke(plan_real(raw, 0)), tmp_path / "demo")
    assert not (tmp_path / "demo").exists()


def test_too_few_cases_are_told_with_what_to_do(tmp_path):
    raw = raw_tree(tmp_path / "raw", cases=CASES[:2], shape=(16, 16, 16))
    (raw / "splits_final.json").write_text(json.dumps([{"train": ["case0", "case1"], "val": []}]))
    with pytest.raises(ValueError, match="raw: 2 usable cases, which leave none for validation; "):
        run_demo(smoke(plan_real(raw, 0)), tmp_path / "demo")


def test_a_folder_of_something_else_is_refused(tmp_path):
    (tmp_path / "raw").mkdir()
    with pytest.raises(ValueError, match=r"dataset\.json"):
        run_demo(smoke(plan_real(tmp_path / "raw", 0)), tmp_path / "demo")


def test_regions_are_measured_channel_by_channel():
    settings = settings_of(Task(("whole", "core"), "sigmoid", 2, ((1, 2), (2,)), None))
    assert settings.multilabel
    assert [(s.name, s.values) for s in settings.label_sets] == [("whole", (1, 2)), ("core", (2,))]


def test_cases_to_look_at_are_chosen_by_size_alone():
    assert at_quartiles({}) == []
    assert at_quartiles({"only": 3}) == ["only"]
    assert at_quartiles({str(n): n for n in range(101)}) == ["25", "50", "75"]
