import json
import math
from dataclasses import asdict

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gradsurge.calibration import regions
from gradsurge.calibration.logit_table import LogitSums


def a_case(seed, classes=2, channels=None, shape=(5, 6, 7)):
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 5, (channels or classes, *shape)).astype(np.float32)
    return logits, rng.integers(0, classes, shape).astype(np.uint8)


def mean_by_loop(channel, label, t):
    return math.fsum(channel[i].item() for i in np.ndindex(label.shape) if label[i] == t) / (
        np.count_nonzero(label == t)
    )


@pytest.mark.parametrize("classes", [2, 4])
def test_means_are_those_of_a_loop(classes, monkeypatch):
    monkeypatch.setattr(regions, "_SLAB", 80)
    logits, label = a_case(0, classes)
    sums = LogitSums(classes)
    sums.update_logits(logits, label)
    table = sums.means()
    assert table.kind == "logits"
    assert table.voxels == np.bincount(label.ravel()).tolist()
    for t in range(classes):
        row = [mean_by_loop(channel, label, t) for channel in logits]
        assert table.means[t] == pytest.approx(row, abs=1e-12)
        others = (sum(row) - row[t]) / (classes - 1)
        assert table.distances[t] == pytest.approx(row[t] - others, abs=1e-12)


def test_one_channel_has_a_background_logit_of_zero():
    logits, label = a_case(1, channels=1)
    one, two = LogitSums(), LogitSums()
    one.update_logits(logits, label == 1)
    two.update_logits(np.concatenate((np.zeros_like(logits), logits)), label)
    assert one.means() == two.means()
    assert [row[0] for row in one.means().means] == [0.0, 0.0]
    assert one.means().means[1][1] == pytest.approx(logits[0][label == 1].mean(dtype=float))


@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_give_log_softmax_and_the_same_distances(classes):
    logits, label = a_case(2, classes)
    z = torch.from_numpy(logits).double()
    by_logits, by_p = LogitSums(classes), LogitSums(classes)
    by_logits.update_logits(logits, label)
    by_p.update_probabilities(z.softmax(0).clamp_min(2**-24).numpy(), label)
    expected = z.log_softmax(0).clamp_min(math.log(2**-24)).numpy()
    for t in range(classes):
        row = [channel[label == t].mean() for channel in expected]
        assert by_p.means().means[t] == pytest.approx(row, abs=1e-9)
    assert by_p.means().clipped == 0
    # No gap of these is clipped, so the distances are those of the logits.
    small = LogitSums(classes), LogitSums(classes)
    small[0].update_logits(logits / 4, label)
    small[1].update_probabilities((z / 4).softmax(0).numpy(), label)
    assert small[0].means().distances == pytest.approx(small[1].means().distances, abs=1e-9)


def test_one_probability_means_its_complement_too():
    p = np.random.default_rng(0).random((1, 4, 5))
    label = np.arange(20).reshape(4, 5) % 2
    one, two = LogitSums(), LogitSums()
    one.update_probabilities(p, label)
    two.update_probabilities(np.concatenate((1 - p, p)), label)
    assert one.means() == two.means()


def test_certain_probabilities_are_clipped_and_counted():
    p = np.array([[[0.0, 1.0, 0.5, 2.0**-24]]], np.float32)
    sums = LogitSums()
    sums.update_probabilities(p, np.array([[0, 1, 1, 0]]))
    table = sums.means()
    floor = math.log(2**-24)
    assert table.clipped == 2  # p of the first voxel, 1 - p of the second
    assert table.kind == "log-probabilities"
    assert table.means[0][1] == pytest.approx(floor)
    assert table.means[1][0] == pytest.approx((floor + math.log(0.5)) / 2)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), parts=st.integers(1, 5))
def test_sums_of_cases_are_the_sums_of_all_voxels(seed, parts):
    cases = [a_case(seed + i, 3, shape=(3, 4)) for i in range(parts)]
    each = [LogitSums(3) for _ in cases]
    for sums, case in zip(each, cases, strict=True):
        sums.update_logits(*case)
    whole = LogitSums(3)
    whole.update_logits(*(np.concatenate(x, axis=-2) for x in zip(*cases, strict=True)))
    for total in (sum(each), sum(reversed(each), LogitSums(3))):
        np.testing.assert_array_equal(total.counts, whole.counts)
        np.testing.assert_allclose(total.sums, whole.sums, atol=1e-10)
        assert total.kind == "logits"


def test_adding_leaves_the_parts_alone():
    a, b = LogitSums(), LogitSums()
    a.update_logits(*a_case(0))
    before = a.sums.copy()
    total = a + b
    total.update_logits(*a_case(1))
    np.testing.assert_array_equal(a.sums, before)


def test_a_mask_leaves_voxels_out():
    logits, label = a_case(3)
    mask = np.random.default_rng(0).random(label.shape) > 0.5
    sums = LogitSums()
    sums.update_logits(logits, np.where(mask, label, 255), mask)
    assert sum(sums.means().voxels) == mask.sum()
    expected = logits[1][mask & (label == 1)].mean(dtype=float)
    assert sums.means().means[1][1] == pytest.approx(expected)


def test_a_class_without_voxels_has_no_mean():
    sums = LogitSums(3)
    sums.update_logits(np.ones((3, 2, 2)), np.zeros((2, 2), int))
    table = sums.means()
    assert table.means == [[1.0, 1.0, 1.0], [None] * 3, [None] * 3]
    assert table.distances == [0.0, None, None]
    assert json.loads(json.dumps(asdict(table), allow_nan=False))["voxels"] == [4, 0, 0]
    assert LogitSums().means().kind is None


def test_float16_is_summed_in_float64():
    sums = LogitSums()
    sums.update_logits(np.full((1, 300, 300), 8.0, np.float16), np.ones((300, 300), bool))
    assert sums.means().means[1][1] == 8.0


Z, Y = np.zeros((2, 3, 3)), np.eye(3, dtype=int)


@pytest.mark.parametrize(
    ("logits", "label", "mask", "error", "text"),
    [
        (Z[:, :2], Y, None, ValueError, r"logits: .*\(3, 3\).*got \(2, 2, 3\)"),
        (np.zeros((3, 3, 3)), Y, None, ValueError, "2 classes expected 1 or 2 channels"),
        (Z[0], Y, None, ValueError, r"logits: .*got \(3, 3\)"),
        (Z, Y * 2, None, ValueError, "label: expected classes 0 to 1, got 0 to 2; .*mask"),
        (Z, -Y, None, ValueError, "label: .*got -1 to 0"),
        (Z, Y * 1.0, None, TypeError, "label: .*got float64"),
        (Z, Y, Y, ValueError, r"mask: expected bool.*int64"),
        (Z, Y, Y[:2] > 0, ValueError, r"mask: .*\(2, 3\)"),
        (Z * np.nan, Y, None, ValueError, "logits: .*NaN"),
        (np.full((2, 3, 3), -np.inf), Y, None, ValueError, "logits: .*infinity"),
    ],
)
def test_bad_input_leaves_the_sums_alone(logits, label, mask, error, text):
    sums = LogitSums()
    with pytest.raises(error, match=text):
        sums.update_logits(logits, label, mask)
    assert sums.kind is None
    assert sums.counts.sum() == 0


@pytest.mark.parametrize("value", [-0.1, 1.1, np.nan])
def test_bad_probabilities(value):
    with pytest.raises(ValueError, match=r"probabilities: expected values in \[0, 1\]"):
        LogitSums().update_probabilities(np.full((1, 2, 2), value), np.eye(2, dtype=bool))


def test_what_does_not_add_up():
    a, b = LogitSums(), LogitSums()
    a.update_logits(Z, Y)
    b.update_probabilities(Z + 0.5, Y)
    with pytest.raises(ValueError, match="logits and log-probabilities do not add up"):
        a + b
    with pytest.raises(ValueError, match="do not add up"):
        a.update_probabilities(Z + 0.5, Y)
    with pytest.raises(ValueError, match="2 and 3 classes"):
        a + LogitSums(3)
    with pytest.raises(TypeError):
        a + 1
    with pytest.raises(ValueError, match="classes: expected at least 2"):
        LogitSums(1)
