"""From folders and files to a case: found, matched, or told what is missing."""

import shutil

import numpy as np
import pytest

from gradsurge.data.case_error import CaseError
from gradsurge.experiments.viewing.gathering import gather
from gradsurge.experiments.viewing.request import Named, ViewRequest
from tests.experiments.viewing.folders import AFFINE, SHAPE, about, prediction_folder, save

CLASSES = about(("background", "one", "two"), "multiclass")


def asked(*folders, **more):
    return ViewRequest(tuple(Named(folder.name, folder) for folder in folders), **more)


def test_a_folder_of_predictions_finds_its_scan(tmp_path):
    folder = prediction_folder(tmp_path)
    view = gather(asked(folder, case="b"))
    assert (view.case, view.scan.title, view.label, view.notes) == ("b", "b_0000.nii.gz", None, ())
    assert view.models[0].maps.shape == (1, *SHAPE)
    assert view.models[0].name == "pred"


def test_two_models_show_the_same_case(tmp_path):
    one = prediction_folder(tmp_path, "one", told=CLASSES)
    two = prediction_folder(tmp_path, "two", told=CLASSES, seed=1, cases=("b", "a"))
    view = gather(asked(one, two))
    assert view.case == "a"
    assert [m.name for m in view.models] == ["one", "two"]
    assert not np.array_equal(view.models[0].maps, view.models[1].maps)
    other = prediction_folder(tmp_path, "other")
    with pytest.raises(ValueError, match="tell different structures"):
        gather(asked(one, other))


def test_structures_can_be_chosen(tmp_path):
    folder = prediction_folder(tmp_path, told=CLASSES)
    view = gather(asked(folder, structures=("two",)))
    assert [s.name for s in view.structures] == ["two"]
    with pytest.raises(ValueError, match="--structure: there is no 'three'; there are any"):
        gather(asked(folder, structures=("three",)))


def test_a_scan_that_is_gone_is_told_and_the_rest_is_shown(tmp_path):
    folder = prediction_folder(tmp_path, images=False)
    view = gather(asked(folder))
    assert view.scan is None
    assert "give --scan" in view.notes[0]
    assert view.layout.source_shape == SHAPE
    (tmp_path / "images").mkdir()
    save(tmp_path / "images" / "other.nii.gz", np.zeros(SHAPE, np.float32))
    assert "no scan of it" in gather(asked(folder)).notes[0]
    given = save(tmp_path / "s.nii.gz", np.ones(SHAPE, np.float32))
    assert gather(asked(folder, scan=given)).scan.title == "s.nii.gz"


def test_further_channels_of_a_scan(tmp_path):
    folder = prediction_folder(tmp_path)
    save(tmp_path / "images" / "a_0001.nii.gz", np.full(SHAPE, 7, np.float32))
    assert gather(asked(folder, channel=1)).scan.values.max() == 7
    with pytest.raises(CaseError, match="--channel: a has channels 0 to 1, got 2"):
        gather(asked(folder, channel=2))


def test_labels_by_file_by_folder_and_wrong_ones(tmp_path):
    folder = prediction_folder(tmp_path)
    label = np.random.default_rng(3).integers(0, 2, SHAPE).astype(np.uint8)
    file = save(tmp_path / "labels" / "a.nii.gz", label)
    for place in (file, tmp_path / "labels"):
        assert np.array_equal(gather(asked(folder, label=place)).label, label)
    with pytest.raises(ValueError, match=r"--label: .* has no file of 'b'; it has a"):
        gather(asked(folder, case="b", label=tmp_path / "labels"))
    far = save(tmp_path / "far.nii.gz", label, np.eye(4))
    with pytest.raises(CaseError, match="affine differs"):
        gather(asked(folder, label=far))


def test_files_that_lie_elsewhere_are_refused(tmp_path):
    folder = prediction_folder(tmp_path)
    save(tmp_path / "images" / "a_0000.nii.gz", np.zeros(SHAPE, np.float32), AFFINE * 2)
    with pytest.raises(CaseError, match="affine differs from the scan's"):
        gather(asked(folder))
    (folder / "b.nii.gz").unlink()
    with pytest.raises(CaseError, match=r"b\.nii\.gz"):
        gather(asked(folder, case="b"))


def test_a_folder_that_is_neither(tmp_path):
    with pytest.raises(ValueError, match=r"holds neither predictions\.json nor a run"):
        gather(asked(tmp_path))


def test_plain_files_of_two_models(tmp_path):
    rng = np.random.default_rng(0)
    scan = save(tmp_path / "patient_0000.nii.gz", rng.normal(size=SHAPE).astype(np.float32))
    maps = [save(tmp_path / f"{n}.nii.gz", rng.random(SHAPE).astype(np.float32)) for n in "pq"]
    masks = [save(tmp_path / f"m{n}.nii.gz", np.ones(SHAPE, np.uint8)) for n in "pq"]
    named = (Named("ours", maps[0]), Named("theirs", maps[1]))
    view = gather(ViewRequest(scan=scan, maps=named, masks=tuple(masks)))
    assert (view.case, [m.name for m in view.models]) == ("patient", ["ours", "theirs"])
    assert view.models[1].mask.all()
    alone = gather(ViewRequest(scan=scan, label=masks[0]))
    assert (alone.models[0].maps, alone.models[0].mask) == (None, None)
    assert alone.label.all()


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "expected a folder of predictions, a run, or a scan"),
        ({"folders": "abc"}, "expected one model or two side by side, got 3"),
        ({"folders": "a", "maps": "b"}, "--map and --mask belong to a plain scan"),
        ({"scan": "s", "maps": "ab", "masks": "m"}, "--mask: expected one for each of 2 maps"),
        ({"folders": "aa"}, "two models are called 'a'"),
    ],
)
def test_requests_that_make_no_sense(tmp_path, fields, words):
    made = {key: tuple(Named(n, tmp_path) for n in value) for key, value in fields.items()}
    for key in ("scan", "masks"):
        if key in fields:
            made[key] = tmp_path if key == "scan" else (tmp_path,)
    with pytest.raises(ValueError, match=words):
        ViewRequest(**made)


def test_predictions_that_were_moved_find_their_input_from_above(tmp_path, monkeypatch):
    folder = prediction_folder(tmp_path / "study" / "out")
    shutil.move(tmp_path / "study" / "out" / "images", tmp_path / "study" / "images")
    monkeypatch.chdir(tmp_path)
    assert gather(asked(folder)).scan.title == "a_0000.nii.gz"
