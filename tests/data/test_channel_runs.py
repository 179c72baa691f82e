"""Numbered predictions without labels: channels only where nothing else is possible."""

import pytest

from gradsurge.data import CaseError
from gradsurge.data.case_files import check_files
from gradsurge.data.channel_runs import find_unlabelled

PAIR = (2,)


def found_in(tmp_path, names, counts=PAIR):
    """Return case -> file names of a folder of empty files."""
    for name in names:
        (tmp_path / name).touch()
    found = find_unlabelled(tmp_path, counts)
    return {case: [file.name for file in files] for case, files in found.items()}


def alone(*names):
    return {name: [f"{name}.npy"] for name in names}


@pytest.mark.parametrize(
    ("names", "counts"),
    [
        (["img_0001", "img_0002"], PAIR),  # two patients: no channel 0
        (["img_0000", "img_0002"], PAIR),  # a gap
        (["img_0000", "img_0001", "img_0002"], PAIR),  # three are no pair
        (["img_0000", "img_0001"], (3,)),  # two are not three
        (["img_0000"], PAIR),  # the only file there is
        (["img_0001"], PAIR),
        (["hippocampus_000", "hippocampus_001"], PAIR),  # three digits
        (["case_00000", "case_00001"], PAIR),  # five
        (["img_0000", "img_0001"], ()),  # one channel a label: never several files
    ],
)
def test_cases_that_only_look_like_channels(tmp_path, names, counts):
    assert found_in(tmp_path, [f"{name}.npy" for name in names], counts) == alone(*names)


@pytest.mark.parametrize("number", [2, 3, 4])
def test_channels_that_are_as_many_as_they_should_be(tmp_path, number):
    names = [f"a b_{c:04}.nii.gz" for c in range(number)]
    assert found_in(tmp_path, names, (number,)) == {"a b": names}


def test_a_mixture(tmp_path):
    names = ["a_0000", "a_0001", "b_0001", "b_0002", "hippocampus_001", "whole"]
    found = found_in(tmp_path, [f"{name}.npy" for name in names])
    assert found == {"a": ["a_0000.npy", "a_0001.npy"], **alone(*names[2:])}


def test_a_lone_first_channel_beside_whole_pairs_is_refused(tmp_path):
    found_in(tmp_path, ["a_0000.npy", "a_0001.npy", "b_0000.npy"])
    found = find_unlabelled(tmp_path, PAIR)
    check_files(found["a"], "a")
    with pytest.raises(CaseError, match=r"one channel file only: b_0000\.npy"):
        check_files(found["b"], "b")


def test_a_whole_file_beside_its_channels_is_refused(tmp_path):
    found_in(tmp_path, ["a.npy", "a_0000.npy", "a_0001.npy"])
    with pytest.raises(CaseError, match="3 files for one case"):
        check_files(find_unlabelled(tmp_path, PAIR)["a"], "a")


def test_two_formats_are_no_pair_and_nnunet_masks_are_left_out(tmp_path):
    names = ["a_0000.npy", "a_0001.nii.gz", "b_0000.npz", "b_0000.nii.gz", "b_0001.npz"]
    assert found_in(tmp_path, [*names, "b_0001.nii.gz"]) == {
        "a_0000": ["a_0000.npy"],
        "a_0001": ["a_0001.nii.gz"],
        "b_0000": ["b_0000.npz"],
        "b_0001": ["b_0001.npz"],
    }


def test_an_empty_folder(tmp_path):
    with pytest.raises(ValueError, match="holds no file of type"):
        find_unlabelled(tmp_path, PAIR)
