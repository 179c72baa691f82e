"""Probabilities, logits and geometry that cannot be right."""

import tracemalloc
from dataclasses import replace

import nibabel
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradsurge.data import (
    CaseError,
    check_geometry,
    check_logits,
    check_probabilities,
    read_label,
    read_prediction,
)
from gradsurge.data.checks import largest_sum_deviation
from tests.data.files import AFFINE, classes, label_like, nifti, softmax


def spoilt(value, channels=2):
    p = softmax(channels)
    p[1, 2, 3, 4] = value
    return p


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.nan, "NaN 1 times and infinite values 0 times of 240"),
        (np.inf, "NaN 0 times and infinite values 1 times"),
        (-np.inf, "NaN 0 times and infinite values 1 times"),
        (1.001, r"outside \[0, 1\]: from .* to 1.001; .*--logits"),
        (-0.001, r"outside \[0, 1\]: from -0.001 to"),
    ],
)
@pytest.mark.parametrize("exclusive", [True, False])
def test_values_that_are_no_probabilities(value, message, exclusive):
    with pytest.raises(CaseError, match=message):
        check_probabilities(spoilt(value), exclusive)


@pytest.mark.parametrize("order", ["C", "F"])
def test_channels_that_do_not_sum_to_one(order):
    p = np.asarray(softmax(3), order=order)
    assert check_probabilities(p, exclusive=True) is p
    p[2, 0, 0, 0] += 0.0123
    with pytest.raises(CaseError, match=r"the 3 channels do not sum to 1: off by up to 0.0123"):
        check_probabilities(p, exclusive=True)
    assert check_probabilities(p, exclusive=False) is p
    assert check_probabilities(p[2:], exclusive=True).shape == (1, 4, 5, 6)


@pytest.mark.parametrize("channels", [2, 5, 20])
def test_rounded_storage_passes(channels):
    p = softmax(channels, (40, 40, 10), dtype=np.float64)
    check_probabilities(p.astype(np.float16).astype(np.float32), exclusive=True)
    check_probabilities((np.rint(p * 65535) / 65535).astype(np.float32), exclusive=True)
    eight = (np.rint(p * 255) / 255).astype(np.float32)
    check_probabilities(eight, exclusive=True, step=1 / 255)
    if channels > 2:  # of two, one rounds up where the other rounds down
        with pytest.raises(CaseError, match="do not sum to 1"):
            check_probabilities(eight, exclusive=True)


def test_rounding_beyond_the_ends_is_clipped_in_a_copy():
    p = np.array([[0.5, 1 + 2e-7, -2e-7]])
    clipped = check_probabilities(p, exclusive=True)
    np.testing.assert_array_equal(clipped, [[0.5, 1.0, 0.0]])
    assert p[0, 1] > 1


@settings(max_examples=60, deadline=None)
@given(
    st.integers(2, 5),
    st.lists(st.integers(1, 9), min_size=1, max_size=3),
    st.permutations(range(4)),
    st.integers(0, 10_000),
)
def test_sum_deviation_equals_numpy_in_any_memory_order(channels, shape, order, seed):
    order = [axis for axis in order if axis <= len(shape)]
    shape = (channels, *shape)
    stored = np.random.default_rng(seed).random([shape[axis] for axis in order])
    p = stored.transpose(np.argsort(order))
    assert p.shape == shape
    expected = np.abs(p.sum(axis=0) - 1).max()
    assert largest_sum_deviation(p) == pytest.approx(expected, abs=1e-12)


def test_checking_allocates_next_to_nothing():
    p = np.full((2, 96, 96, 96), 0.5, dtype=np.float32)
    tracemalloc.start()
    check_probabilities(p, exclusive=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < p.nbytes / 10


def test_logits():
    volume = replace(label_like(classes()), array=softmax(2) * 50 - 25)
    check_logits(volume)
    for value in (np.nan, np.inf):
        with pytest.raises(CaseError, match="logits hold NaN"):
            check_logits(replace(volume, array=spoilt(value)))
    picture = replace(volume, affine=None, step=1 / 255)
    with pytest.raises(CaseError, match=r"an integer picture .* not logits"):
        check_logits(picture)


def both(tmp_path, affine):
    label = read_label(nifti(tmp_path / "label.nii.gz", classes()))
    path = nifti(tmp_path / "p.nii.gz", softmax(2)[1], affine)
    return read_prediction([path], label), label


@pytest.mark.parametrize(
    "change",
    [
        np.eye(4),
        nibabel.affines.from_matvec(np.eye(3), [0.05, 0, 0]),
        nibabel.affines.from_matvec(np.eye(3) * 1.001),
    ],
)
def test_affines_that_agree(tmp_path, change):
    check_geometry(*both(tmp_path, change @ AFFINE))


def test_quaternions_agree_with_matrices(tmp_path):
    turn = nibabel.eulerangles.euler2mat(0.3, -0.2, 0.1)
    affine = nibabel.affines.from_matvec(turn * [0.7, 0.8, 3.3], [-120.3, 88.1, -1000.7])
    image = nibabel.Nifti1Image(classes(shape=(300, 8, 90)), affine)
    image.set_sform(None, code=0)
    image.set_qform(affine, code=1)
    nibabel.save(image, tmp_path / "q.nii.gz")
    label = read_label(tmp_path / "q.nii.gz")
    assert not np.array_equal(label.affine, affine)
    p = softmax(2, (300, 8, 90))[1]
    prediction = read_prediction([nifti(tmp_path / "s.nii.gz", p, affine)], label)
    check_geometry(prediction, label)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (nibabel.affines.from_matvec(np.eye(3), [0.2, 0, 0]), "up to 0.2 mm apart"),
        (nibabel.affines.from_matvec(np.diag([-1, 1, 1])), "axes ARS, .*against axes ALS, "),
        (nibabel.affines.from_matvec(np.eye(3) * 2), r"spacing 3x4x6.*against .*1\.5x2x3"),
        (nibabel.affines.from_matvec(np.zeros((3, 3))), "mm apart"),
    ],
)
def test_affines_that_differ(tmp_path, change, message):
    prediction, label = both(tmp_path, AFFINE)
    moved = replace(prediction, affine=change @ AFFINE)
    with pytest.raises(CaseError, match=rf"p\.nii\.gz: its affine differs .*{message}.*resampled"):
        check_geometry(moved, label)


def test_shapes_that_differ():
    label = label_like(classes())
    prediction = replace(label, array=softmax(2, (4, 5, 7)))
    with pytest.raises(CaseError, match=r"shape \(4, 5, 7\) differs from the label's \(4, 5, 6\)"):
        check_geometry(prediction, label)


def test_without_an_affine_there_is_nothing_to_compare():
    label = label_like(classes())
    check_geometry(replace(label, array=softmax(2), affine=None), label)
