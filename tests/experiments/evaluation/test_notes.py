"""What is said though every case was scored: a flag or a folder that looks like a mistake."""

import numpy as np
import pytest

from tests.experiments.evaluation import folders


def test_logits_that_look_like_probabilities(tmp_path):
    folders.binary_folder(tmp_path, cases=2)
    (note,) = folders.measure(tmp_path, logits=True).notes
    assert note.startswith(
        "model: --logits was given, but every value of every case lies in [0, 1]"
    )
    assert folders.measure(tmp_path).notes == []


def test_one_case_of_real_logits_is_enough(tmp_path):
    written = folders.binary_folder(tmp_path, cases=3)
    p, _ = written["case2"]
    folders.nifti(tmp_path / "model" / "case2.nii.gz", np.log(p) - np.log1p(-p))
    assert folders.measure(tmp_path, logits=True).notes == []


def test_each_model_is_looked_at_by_itself(tmp_path):
    folders.binary_folder(tmp_path, cases=1, model="squashed")
    p, _ = folders.binary_folder(tmp_path, cases=1, model="raw")["case0"]
    folders.nifti(tmp_path / "raw" / "case0.nii.gz", np.log(p) - np.log1p(-p))
    (note,) = folders.measure(tmp_path, "raw", "squashed", logits=True).notes
    assert note.startswith("squashed: ")


@pytest.mark.parametrize(
    ("name", "shape", "words"),
    [
        ("other.nii.gz", folders.SHAPE, ["none is named like", "case0 or case0_0000"]),
        ("case0.nii.gz", (3, 3, 3), ["cannot be read, or lie on another grid"]),
    ],
)
def test_scans_that_are_not_shown(tmp_path, name, shape, words):
    folders.binary_folder(tmp_path, cases=1)
    folders.nifti(tmp_path / "scans" / name, np.ones(shape, np.float32))
    (note,) = folders.measure(tmp_path, images=tmp_path / "scans").notes
    assert note.startswith(f"--images: no scan of {tmp_path / 'scans'} is shown: ")
    assert all(word in note for word in words)


def test_one_scan_that_is_shown_is_enough(tmp_path):
    folders.binary_folder(tmp_path, cases=2)
    folders.nifti(tmp_path / "scans" / "case1_0000.nii.gz", np.ones(folders.SHAPE, np.float32))
    assert folders.measure(tmp_path, images=tmp_path / "scans").notes == []
