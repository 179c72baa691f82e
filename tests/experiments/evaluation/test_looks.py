"""Pictures of the worst cases: which cases, which slice, which way up."""

import numpy as np
import pytest
import tifffile

from gradsurge.data import parse_label_set
from tests.experiments.evaluation import folders


def flat_error(shape, slices, size):
    """A probability of 0.1 everywhere, and a label whose ``slices`` are wrong by ``size``."""
    p = np.full(shape, 0.1, np.float32)
    label = np.zeros(shape, np.uint8)
    label[slices] = 1
    p[slices] = 1 - size
    return p, label


def write(root, name, p, label, affine=folders.AFFINE):
    folders.nifti(root / "labels" / f"{name}.nii.gz", label, affine)
    folders.nifti(root / "model" / f"{name}.nii.gz", p, affine)


def one_look(root, **options):
    (found,) = folders.measure(root, **options).looks
    return found


def test_the_worst_cases_come_first(tmp_path):
    for n, noise in enumerate((0.5, 4.0, 1.0, 3.0, 2.0)):
        folders.binary_folder(tmp_path, cases=1, first=n, noise=noise)
    evaluation = folders.measure(tmp_path)
    nll = {r.case: r.scores["nll"] for r in evaluation.models["model"].rows if r.region == "all"}
    worst = sorted(nll, key=nll.get, reverse=True)[:3]
    assert [look.case for look in evaluation.looks] == worst == ["case1", "case3", "case4"]
    assert {look.model for look in evaluation.looks} == {"model"}


@pytest.mark.parametrize(
    ("spacing", "axis", "aspect"),
    [
        ((1.0, 1.5, 2.0), 2, 1.5),
        ((1.0, 1.0, 1.0), 2, 1.0),
        ((1.0000001, 1.0, 1.0), 2, 1.0),  # rounding is not thickness
        ((5.0, 0.5, 1.0), 0, 2.0),
        ((1.0, 4.0, 2.0), 1, 2.0),
    ],
)
def test_the_slice_with_the_largest_error_across_the_thickest_axis(tmp_path, spacing, axis, aspect):
    shape = (7, 8, 9)
    where = [slice(2, 4)] * 3
    where[axis] = 5
    p, label = flat_error(shape, tuple(where), 0.9)
    p[0, 0, 0] = 0.4  # a smaller error in another slice
    write(tmp_path, "case", p, label, np.diag([*spacing, 1.0]))
    look = one_look(tmp_path)
    assert look.slice_name == f"slice 6 of {shape[axis]}, axis {axis + 1}"
    assert look.aspect == pytest.approx(aspect, rel=1e-6)
    expected = np.take(p, 5, axis)
    assert look.probability.shape == expected.shape[::-1]
    # The first axis of the plane goes to the right, the second upwards.
    for i in range(expected.shape[0]):
        for j in range(expected.shape[1]):
            assert look.probability[-1 - j, i] == expected[i, j]
    assert look.error == pytest.approx(np.abs(look.probability - look.label))
    assert look.error.sum() == pytest.approx(np.abs(p - label).take(5, axis).sum(), rel=1e-5)


def test_a_stack_of_pictures_is_cut_into_its_pages(tmp_path):
    p, label = flat_error((5, 20, 30), (3, slice(2, 5), slice(4, 9)), 0.8)
    for folder, array in (("labels", label), ("model", p)):
        (tmp_path / folder).mkdir()
        tifffile.imwrite(tmp_path / folder / "case.tif", array)
    look = one_look(tmp_path)
    assert look.slice_name == "slice 4 of 5, axis 1"
    np.testing.assert_array_equal(look.label, label[3] == 1)
    np.testing.assert_array_equal(look.probability, p[3])
    assert look.aspect == 1.0


def test_a_picture_is_shown_as_it_is(tmp_path):
    p, label = flat_error((20, 30), (slice(2, 5), slice(4, 9)), 0.8)
    folders.png(tmp_path / "labels" / "case.png", label)
    folders.png(tmp_path / "model" / "case.png", np.rint(p * 255).astype(np.uint8))
    look = one_look(tmp_path)
    assert (look.slice_name, look.aspect, look.image) == ("", 1.0, None)
    np.testing.assert_array_equal(look.label, label == 1)


def test_an_image_in_nifti_is_turned_like_a_volume(tmp_path):
    p, label = flat_error((20, 30), (slice(2, 5), slice(4, 9)), 0.8)
    write(tmp_path, "case", p, label, np.diag([1.0, 2.0, 1.0, 1.0]))
    look = one_look(tmp_path)
    np.testing.assert_array_equal(look.label, (label == 1).T[::-1])
    assert look.aspect == 2.0


def test_large_slices_are_thinned_alike(tmp_path):
    label = folders.blobs(0, shape=(700, 1100))
    p = np.where(label, 0.8, 0.1).astype(np.float32)
    folders.png(tmp_path / "labels" / "case.png", label)
    folders.png(tmp_path / "model" / "case.png", np.rint(p * 255).astype(np.uint8))
    folders.png(tmp_path / "scans" / "case.png", (label * 50).astype(np.uint8))
    look = one_look(tmp_path, images=tmp_path / "scans")
    assert look.label.shape == look.probability.shape == look.image.shape == (234, 367)
    np.testing.assert_array_equal(look.label, label[::3, ::3] == 1)
    np.testing.assert_array_equal(look.image, label[::3, ::3] * 50.0)


def test_the_structure_with_the_largest_error_is_shown(tmp_path):
    label = np.zeros((7, 8, 9), np.uint8)
    label[1:3, 1:3, 4], label[4:6, 4:7, 6] = 1, 2
    p = np.moveaxis(np.eye(3, dtype=np.float32)[label], -1, 0) * np.float32(0.85) + np.float32(0.05)
    p[:, label == 2] = np.array([0.9, 0.05, 0.05], np.float32)[:, None]
    write(tmp_path, "case", p, label)
    look = one_look(tmp_path)
    assert (look.label_name, look.slice_name) == ("class 2", "slice 7 of 9, axis 3")
    named = one_look(tmp_path, label_sets=(parse_label_set("one=1"),))
    assert named.label_name == "one"


def test_scans_lie_beside_their_slices(tmp_path):
    p, label = flat_error((7, 8, 9), (slice(2, 4), slice(2, 4), 5), 0.9)
    write(tmp_path, "case", p, label)
    scan = folders.random(0).normal(size=(7, 8, 9)).astype(np.float32)
    folders.nifti(tmp_path / "scans" / "case_0000.nii.gz", scan)
    look = one_look(tmp_path, images=tmp_path / "scans")
    np.testing.assert_array_equal(look.image, scan[:, :, 5].T[::-1])


@pytest.mark.parametrize("fault", ["missing", "shape", "affine", "broken"])
def test_without_a_fitting_scan_there_is_still_a_look(tmp_path, fault):
    p, label = flat_error((7, 8, 9), (slice(2, 4), slice(2, 4), 5), 0.9)
    write(tmp_path, "case", p, label)
    file = tmp_path / "scans" / "case.nii.gz"
    folders.nifti(
        file, p[1:] if fault == "shape" else p, np.eye(4) if fault == "affine" else folders.AFFINE
    )
    if fault == "missing":
        file.unlink()
    if fault == "broken":
        file.write_bytes(b"nothing")
    assert one_look(tmp_path, images=tmp_path / "scans").image is None
