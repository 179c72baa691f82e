import json
import math
from dataclasses import asdict

import numpy as np
import pytest
import scipy.ndimage
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from gradsurge.calibration import regions
from gradsurge.calibration.lesion_table import KITS_EDGES_MM3, lesion_table, quartile_edges
from gradsurge.calibration.lesions import Lesion, find_lesions


def a_case(seed, shape=(9, 10, 11), order="C"):
    rng = np.random.default_rng(seed)
    smooth = scipy.ndimage.gaussian_filter(rng.standard_normal(shape), 0.7)
    label = smooth > 0.45
    p = np.clip(0.5 + smooth + 0.3 * rng.standard_normal(shape), 0, 1).astype(np.float32)
    return np.asarray(p, order=order), np.asarray(label, order=order), p > 0.6


def ece_by_definition(confidence, outcome, bins):
    """Return the error by one comparison a bin and voxel, in float64."""
    total = 0.0
    for b in range(bins):
        inside = (confidence > b / bins) & (confidence <= (b + 1) / bins)
        inside |= (b == 0) & (confidence == 0)
        if inside.any():
            total += inside.sum() * abs(outcome[inside].mean() - confidence[inside].mean())
    return total / len(confidence)


def sorted_by_place(lesions):
    return sorted(lesions, key=lambda x: x.centroid)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(("shape", "ranks"), [((9, 10, 11), (1, 2, 3)), ((30, 40), (1, 2))])
def test_every_lesion_against_scipy_and_plain_loops(shape, ranks, order):
    neighbours = {(2, 1): 4, (2, 2): 8, (3, 1): 6, (3, 2): 18, (3, 3): 26}
    spacing = (0.5, 1.5, 3.0)[: len(shape)]
    p, label, prediction = a_case(1, shape, order)
    for rank in ranks:
        structure = scipy.ndimage.generate_binary_structure(len(shape), rank)
        components, number = scipy.ndimage.label(label, structure)
        expected = []
        for i in range(1, number + 1):
            own = p[components == i].astype(np.float64)
            sure = np.maximum(own, 1 - own)
            expected.append(
                Lesion(
                    case="x",
                    volume=len(own) * math.prod(spacing),
                    voxels=len(own),
                    detected=bool((prediction & (components == i)).any()),
                    ece=ece_by_definition(own, np.ones(len(own)), 15),
                    top_label_ece=ece_by_definition(sure, (own > 0.5) * 1.0, 15),
                    mean_probability=own.mean(),
                    centroid=scipy.ndimage.center_of_mass(components == i),
                )
            )
        found = find_lesions(
            p, label, prediction, spacing, case="x", connectivity=neighbours[len(shape), rank]
        ).lesions
        assert number > 5
        assert any(x.detected for x in found)
        assert not all(x.detected for x in found)
        for ours, theirs in zip(sorted_by_place(found), sorted_by_place(expected), strict=True):
            assert (ours.case, ours.voxels, ours.detected) == ("x", theirs.voxels, theirs.detected)
            np.testing.assert_allclose(ours.centroid, theirs.centroid, atol=1e-5)
            for name in ("volume", "ece", "top_label_ece", "mean_probability"):
                assert getattr(ours, name) == pytest.approx(getattr(theirs, name), abs=1e-12)


def test_corners_touch_by_default():
    label = np.eye(4, dtype=bool)
    p = np.full((4, 4), 0.7)
    assert len(find_lesions(p, label, label, (1, 1)).lesions) == 1
    assert len(find_lesions(p, label, label, (1, 1), connectivity=4).lesions) == 4
    cube = np.zeros((2, 2, 2), bool)
    cube[0, 0, 0] = cube[1, 1, 1] = True
    assert len(find_lesions(cube * 0.7, cube, cube, (1, 1, 1)).lesions) == 1


def test_false_positives_share_no_voxel_with_the_label():
    label, prediction = np.zeros((2, 12, 12), bool)
    label[1:4, 1:4] = True
    prediction[3:5, 3:5] = True  # overlaps
    prediction[4, 0] = True  # touches the label at a corner, but shares no voxel
    prediction[8, 8] = prediction[10, 1] = True
    found = find_lesions(prediction * 0.9, label, prediction, (1.0, 1.0))
    assert (found.predicted_components, found.false_positives) == (4, 3)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_false_positives_against_scipy(seed):
    p, label, prediction = a_case(seed)
    components, number = scipy.ndimage.label(prediction, np.ones((3, 3, 3)))
    hit = set(components[label].tolist()) - {0}
    found = find_lesions(p, label, prediction, (1, 1, 1))
    assert (found.predicted_components, found.false_positives) == (number, number - len(hit))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_lesions_along_one_axis_against_scipy(axis, order):
    label = np.zeros((7, 8, 9), bool, order)
    line = [3, 4, 5]
    line[axis] = slice(None)
    label[tuple(line)] = np.array([1, 0, 1, 1, 0, 0, 1, 0, 1], bool)[: label.shape[axis]]
    components, number = scipy.ndimage.label(label, np.ones((3, 3, 3)))
    found = find_lesions(label * 0.9, label, label, (1, 1, 1))
    sizes = sorted(np.bincount(components.ravel())[1:])
    assert sorted(x.voxels for x in found.lesions) == sizes
    assert found.predicted_components == number


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), bins=st.integers(1, 40))
def test_the_positive_class_error_is_the_missing_confidence(seed, bins):
    p, label, prediction = a_case(seed)
    for x in find_lesions(p, label, prediction, (1, 1, 1), bins=bins).lesions:
        assert x.ece == pytest.approx(1 - x.mean_probability, abs=1e-12)


def test_the_top_label_error_sees_sure_misses():
    label = np.ones((1, 4), bool)
    p = np.array([[0.1, 0.1, 0.9, 0.9]])  # confidence 0.9, right half of the time
    (lesion,) = find_lesions(p, label, p > 0.5, (1, 1)).lesions
    assert lesion.top_label_ece == pytest.approx(0.4)
    assert lesion.ece == pytest.approx(0.5)


def test_a_bin_holds_its_upper_edge():
    p = np.array([[0.55, 0.4]])  # confidences 0.55, right, and 0.6, wrong: both in (0.4, 0.6]
    (lesion,) = find_lesions(p, np.ones((1, 2), bool), p > 0.5, (1, 1), bins=5).lesions
    assert lesion.top_label_ece == pytest.approx(0.15 / 2)


def test_slabs_change_nothing(monkeypatch):
    case = a_case(3)
    whole = find_lesions(*case, (1, 1, 1))
    monkeypatch.setattr(regions, "_SLAB", 200)
    parts = find_lesions(*case, (1, 1, 1))
    for a, b in zip(whole.lesions, parts.lesions, strict=True):
        assert a.ece == pytest.approx(b.ece, abs=1e-14)
        assert a.top_label_ece == pytest.approx(b.top_label_ece, abs=1e-14)
        assert (a.voxels, a.detected) == (b.voxels, b.detected)


def test_empty_masks():
    empty, some = np.zeros((5, 5), bool), np.eye(5, dtype=bool)
    p = np.full((5, 5), 0.3)
    assert asdict(find_lesions(p, empty, empty, (1, 1))) == {
        "lesions": [],
        "predicted_components": 0,
        "false_positives": 0,
    }
    assert find_lesions(p, empty, some, (1, 1)).false_positives == 1
    (missed,) = find_lesions(p, some, empty, (1, 1)).lesions
    assert not missed.detected


def lesion(volume, detected=True, ece=0.1):
    return Lesion("c", volume, int(volume), detected, ece, ece / 2, 1 - ece, (0.0, 0.0))


def test_table_rows():
    lesions = [lesion(5), lesion(10, ece=0.2), lesion(19, False, 0.6), lesion(20), lesion(4.9)]
    small, large, none = lesion_table(lesions, [5, 20, 30, 40])
    assert (small.low, small.high, small.count, small.detected) == (5, 20, 3, 2)
    assert small.mean_ece == pytest.approx(0.3)
    assert small.mean_top_label_ece == pytest.approx(0.15)
    assert (large.count, large.detection_rate) == (1, 1.0)
    assert (none.count, none.detection_rate, none.detection_interval, none.mean_ece) == (
        0,
        None,
        None,
        None,
    )


@pytest.mark.parametrize(("detected", "count"), [(0, 5), (3, 7), (77, 78), (10, 10)])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_detection_interval_against_scipy(detected, count, confidence):
    lesions = [lesion(5.0, i < detected) for i in range(count)]
    (row,) = lesion_table(lesions, [0, math.inf], confidence=confidence)
    expected = scipy.stats.binomtest(detected, count).proportion_ci(confidence, method="wilson")
    assert row.detection_interval == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert row.detection_rate == detected / count
    assert row.high is None


def test_the_edges_of_the_paper():
    assert KITS_EDGES_MM3[0] == 3 * 1.5**3
    volumes = [10.125, 4000.0, 4346.0, 15912.0, 15913.0, 63595.9, 63596.0, 1e6]
    lesions = [lesion(v) for v in volumes]
    assert [r.count for r in lesion_table(lesions, KITS_EDGES_MM3)] == [2, 2, 2, 2]
    assert [r.low for r in lesion_table(lesions, KITS_EDGES_MM3[1:])] == [4346, 15913, 63596]


def test_by_default_the_classes_are_quarters():
    volumes = np.random.default_rng(0).lognormal(5, 2, 311)
    rows = lesion_table([lesion(v) for v in volumes])
    assert [r.count for r in rows] == [78, 77, 78, 78]
    assert [r.low for r in rows][1:] == np.percentile(volumes, [25, 50, 75]).tolist()


@pytest.mark.parametrize(
    ("volumes", "edges"),
    [
        ([], [0, math.inf]),
        ([7.0], [0, math.inf]),
        ([7.0, 7.0, 7.0], [0, math.inf]),
        ([1.0, 9.0, 9.0, 9.0, 9.0], [0, 9.0, math.inf]),
    ],
)
def test_equal_quartiles_make_no_empty_class(volumes, edges):
    assert quartile_edges(volumes) == edges
    rows = lesion_table([lesion(v) for v in volumes])
    assert sum(r.count for r in rows) == len(volumes)


def test_results_are_json():
    found = find_lesions(*a_case(0), (1, 1, 1))
    rows = [asdict(r) for r in lesion_table(found.lesions, [0, 1, 5, math.inf])]
    text = json.dumps([asdict(found), rows], allow_nan=False)
    assert json.loads(text)[0]["lesions"][0]["voxels"] == found.lesions[0].voxels


P, MASK = np.full((3, 3), 0.5), np.eye(3, dtype=bool)
ONE = (1.0, 1.0)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: find_lesions(P, P, MASK, ONE), TypeError, "label: .*bool.*float64"),
        (lambda: find_lesions(P, MASK, MASK[:2], ONE), ValueError, "prediction: .*shape of label"),
        (lambda: find_lesions(P[:2], MASK, MASK, ONE), ValueError, r"probabilities: .*\(2, 3\)"),
        (lambda: find_lesions(P * 3, MASK, MASK, ONE), ValueError, r"probabilities: .*\[0, 1\]"),
        (lambda: find_lesions(P * np.nan, MASK, MASK, ONE), ValueError, "probabilities: .*NaN"),
        (lambda: find_lesions(P, MASK, MASK, (1.0,)), ValueError, "spacing: expected 2"),
        (lambda: find_lesions(P, MASK, MASK, ONE, bins=0), ValueError, "bins: .*got 0"),
        (lambda: find_lesions(P, MASK, MASK, ONE, bins=1.5), TypeError, "bins: .*got 1.5"),
        (
            lambda: find_lesions(P, MASK, MASK, ONE, connectivity=26),
            ValueError,
            r"connectivity: .*\(8, 4\) in 2D, got 26",
        ),
        (lambda: lesion_table([], [1.0]), ValueError, r"edges: .*two rising.*\[1.0\]"),
        (lambda: lesion_table([], [1.0, 1.0]), ValueError, "edges: .*rising"),
        (lambda: lesion_table([], [0.0, 1.0], confidence=95), ValueError, "confidence: .*got 95"),
    ],
)
def test_bad_input(call, error, text):
    with pytest.raises(error, match=text):
        call()
