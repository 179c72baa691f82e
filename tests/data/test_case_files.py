"""Which files are whose, and what has no partner."""

import os
import re
from pathlib import Path

import pytest

from gradsurge.data import CaseError, find_files, match_cases, read_prediction
from tests.data.files import classes, label_like


def touch(folder, *names):
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).touch()
    return folder


def names(found):
    return {case: tuple(f.name for f in files) for case, files in found.items()}


def matched(tmp_path, predictions, labels):
    found = find_files(touch(tmp_path / "labels", *labels))
    return match_cases(find_files(touch(tmp_path / "p", *predictions), cases=found), found)


def test_suffixes_order_and_what_is_passed_over(tmp_path):
    folder = touch(
        tmp_path,
        *("b10.nii.gz", "b9.NII.GZ", "a.nii", "c.PNG", "d.tif", "e.TIFF", "f.npy", "g.npz"),
        *(".hidden.nii", ".nii.gz", "plans.json", "a.pkl", "notes.txt", "table.csv", "x.jpg"),
    )
    touch(tmp_path / "folder", "deep.nii")
    (tmp_path / "h.nii.gz").mkdir()
    os.mkfifo(tmp_path / "pipe.nii")  # opening it would wait for ever
    found = find_files(folder)
    assert list(found) == ["a", "b9", "b10", "c", "d", "e", "f", "g"]
    assert found["b9"] == (folder / "b9.NII.GZ",)


@pytest.mark.parametrize("case", ["case 1.5", "Ärztin", "<script>alert(1)<script>", "a'b&c"])
def test_odd_names(tmp_path, case):
    assert list(find_files(touch(tmp_path, f"{case}.nii.gz"))) == [case]


def test_names_that_cannot_be_printed_are_escaped(tmp_path):
    (tmp_path / "two\nlines.npy").touch()
    with open(os.fsencode(tmp_path) + b"/\xff.npy", "wb"):  # noqa: PTH123
        pass
    found = find_files(tmp_path)
    assert list(found) == ["\\udcff", "two\\nlines"]
    assert found["two\\nlines"][0].exists()
    " ".join(found).encode()  # can be written anywhere


def test_broken_links_stay_to_be_reported(tmp_path):
    (tmp_path / "a.nii").symlink_to(tmp_path / "gone")
    assert list(find_files(tmp_path)) == ["a"]


def test_channels_belong_to_their_case(tmp_path):
    folder = touch(tmp_path, *(f"a_{c:04}.nii.gz" for c in (1, 0, 2)), "b_0000.png", "c_1.png")
    found = find_files(folder, cases={"a", "b", "c_1"})
    assert names(found) == {
        "a": ("a_0000.nii.gz", "a_0001.nii.gz", "a_0002.nii.gz"),
        "b": ("b_0000.png",),
        "c_1": ("c_1.png",),
    }
    assert list(find_files(folder)) == ["a_0000", "a_0001", "a_0002", "b_0000", "c_1"]


def test_a_case_whose_name_looks_like_a_channel(tmp_path):
    labels = ["patient_0000.nii.gz", "patient_0007.nii.gz"]
    matching = matched(tmp_path, labels, labels)
    assert [case.name for case in matching.cases] == ["patient_0000", "patient_0007"]
    assert matching.problems == []


def test_nnunet_folder(tmp_path):
    predictions = [
        *(f"case_{n}.{suffix}" for n in (1, 2) for suffix in ("nii.gz", "npz", "pkl")),
        *("dataset.json", "plans.json", "predict_from_raw_data_args.json"),
    ]
    matching = matched(tmp_path, predictions, ["case_1.nii.gz", "case_2.nii.gz"])
    assert [[f.name for f in c.prediction] for c in matching.cases] == [
        ["case_1.npz"],
        ["case_2.npz"],
    ]
    assert matching.cases[0].label == tmp_path / "labels" / "case_1.nii.gz"
    assert matching.problems == []


def test_everything_that_has_no_partner_is_named(tmp_path):
    matching = matched(
        tmp_path,
        ["a.nii.gz", "c.npy", "d_0000.npy", "d_0001.npy"],
        ["a.nii.gz", "b.png", "b10.png", "b9.png"],
    )
    assert [case.name for case in matching.cases] == ["a"]
    assert matching.problems == [
        ("b", "label b.png has no prediction"),
        ("b9", "label b9.png has no prediction"),
        ("b10", "label b10.png has no prediction"),
        ("c", "prediction c.npy has no label"),
        ("d", "prediction d_0000.npy has no label"),
    ]


@pytest.mark.parametrize(
    ("predictions", "labels", "message"),
    [
        (["a.nii.gz", "a.npy"], ["a.nii"], r"prediction: 2 files for one case \(a.*keep one"),
        (["a.nii.gz", "a.nii"], ["a.nii"], "prediction: 2 files for one case"),
        (["a.npz", "a.npy"], ["a.nii"], "prediction: 2 files for one case"),
        (["a.npz", "a.nii", "a.png"], ["a.nii"], "prediction: 3 files for one case"),
        (["a.nii", "a_0000.nii"], ["a.nii"], "prediction: 2 files for one case"),
        (["a_0000.nii", "a_0001.png"], ["a.nii"], "prediction: 2 files for one case"),
        (["a.npy"], ["a.nii", "a.png"], "label: 2 files for one case"),
        (["a.npy"], ["a.nii.gz", "a.npz"], "label: 2 files for one case"),
        (["a_0000.nii", "a_0002.nii"], ["a.nii"], "without gaps; got a_0000.nii, a_0002.nii"),
        (["a_0001.nii"], ["a.nii"], "without gaps; got a_0001.nii"),
        (["a_0000.nii"], ["a.nii"], "one channel file only: a_0000.nii; add _0001"),
        ([f"a_{c:04}.nii" for c in range(1, 9)], ["a.nii"], r"a_0004.nii, \.\.\.$"),
    ],
)
def test_files_that_do_not_belong_together(tmp_path, predictions, labels, message):
    matching = matched(tmp_path, predictions, labels)
    assert matching.cases == []
    ((name, said),) = matching.problems
    assert name == "a"
    assert re.search(message, said), said


def test_read_prediction_checks_its_files(tmp_path):
    like = label_like(classes())
    with pytest.raises(CaseError, match="2 files for one case"):
        read_prediction([Path("a.nii"), Path("a.npy")], like)
    with pytest.raises(CaseError, match="without gaps"):
        read_prediction([Path("a_0000.nii"), Path("a_0002.nii")], like)


def test_folders(tmp_path):
    with pytest.raises(ValueError, match=r"gone: expected a readable folder.*No such"):
        find_files(tmp_path / "gone")
    touch(tmp_path, "a.nii")
    with pytest.raises(ValueError, match=r"a\.nii: expected a readable folder.*[Nn]ot a dir"):
        find_files(tmp_path / "a.nii")
    touch(tmp_path / "empty", "x.json")
    with pytest.raises(ValueError, match=r"empty: holds no file of type .*sub-folders"):
        find_files(tmp_path / "empty")
