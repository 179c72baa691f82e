"""A sketch knows its cases: across models, merging, files; and never claims to know more."""

import numpy as np
import pytest

from gradsurge.calibration import CalibrationSketch
from gradsurge.calibration.known_cases import KnownCases

RNG = np.random.default_rng(3)
SHAPE = (6, 7, 8)
LABELS = (RNG.random(SHAPE) < 0.3).astype(np.uint8)
SCORES = RNG.random((1, *SHAPE))


def digests(labels, scores=SCORES):
    return KnownCases.of(labels, scores, labels.size).digests


def test_labels_tell_a_case_whatever_the_model_and_the_type():
    assert len(digests(LABELS)) == 1
    assert digests(LABELS) == digests(LABELS, SCORES / 2)
    for dtype in (bool, np.int64, np.uint16):
        assert digests(LABELS) == digests(LABELS.astype(dtype))
    assert digests(LABELS) == digests(np.asfortranarray(LABELS))


def test_one_voxel_or_another_shape_is_another_case():
    other = LABELS.copy()
    other[0, 0, 0] ^= 1
    assert digests(LABELS) != digests(other)
    assert digests(LABELS) != digests(LABELS.reshape(7, 6, 8))
    assert digests(LABELS) != digests(LABELS * 2)


@pytest.mark.parametrize("value", [0, 1])
def test_labels_that_are_all_equal_are_told_apart_by_the_scores(value):
    same = np.full(SHAPE, value, np.uint8)
    assert digests(same) == digests(same, SCORES.copy())
    assert digests(same) != digests(same, SCORES / 2)


def sketch_of(seed, named=True):
    rng = np.random.default_rng(seed)
    p, y = rng.random((4, 5)), rng.integers(0, 2, (4, 5))
    sketch = CalibrationSketch().update_probabilities(p, y)
    if named:
        sketch.cases = KnownCases.of(y, p, sketch.voxels)
    return sketch


def test_merged_sketches_know_the_cases_of_both_and_leave_theirs_alone():
    one, two = sketch_of(1), sketch_of(2)
    total = sum([one, two, sketch_of(1)])
    assert total.cases.digests == one.cases.digests | two.cases.digests
    assert len(total.cases.digests) == 2
    assert total.cases.voxels == total.voxels == 60
    assert len(one.cases.digests) == len(two.cases.digests) == 1
    assert one.cases.voxels == 20


def test_what_nobody_named_is_not_known():
    total = sketch_of(1) + sketch_of(2, named=False)
    assert len(total.cases.digests) == 1
    assert total.cases.voxels == 20 < total.voxels
    more = sketch_of(1).update_probabilities(np.array([0.5]), np.array([1]))
    assert more.cases.voxels < more.voxels


def test_equality_is_that_of_counts_and_sums():
    assert sketch_of(1) == sketch_of(1, named=False)
