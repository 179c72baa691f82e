"""Confidence in the predicted class, against its definition."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torchmetrics.functional.classification import multiclass_calibration_error

from gradsurge.calibration import CalibrationSketch, scores
from tests.calibration import definitions
from tests.calibration.definitions import hard_pairs, segmentation


@settings(max_examples=150, deadline=None)
@given(pairs=hard_pairs(), bins=st.sampled_from([2, 10, 15, 20]))
def test_binary_of_hard_inputs(pairs, bins):
    p, y = pairs
    lens = CalibrationSketch().update_probabilities(p, y).top_label
    assert scores.ece(lens, bins) == pytest.approx(definitions.top_label_ece(p, y, bins), abs=1e-12)
    assert lens.total == p.size
    assert lens.positives == np.sum((p > 0.5) == y)


@pytest.mark.parametrize("levels", [15, 255, 65535])
def test_binary_of_quantised_maps(levels):
    p = np.arange(0, levels + 1, max(1, levels // 1000)) / levels
    y = np.arange(p.size) % 5 < 2
    lens = CalibrationSketch().update_probabilities(p, y).top_label
    assert scores.ece(lens, 15) == pytest.approx(definitions.top_label_ece(p, y, 15), abs=1e-12)


@pytest.mark.parametrize(
    ("p", "label", "right"), [(0.5, 0, 1), (0.5, 1, 0), (1.0, 1, 1), (0.0, 0, 1)]
)
def test_a_half_is_background_as_in_a_hard_mask(p, label, right):
    lens = CalibrationSketch().update_probabilities(np.array([p]), np.array([label])).top_label
    confidence = max(p, 1 - p)
    assert lens.positives == right
    assert scores.ece(lens, 10) == pytest.approx(abs(confidence - right))
    at = int(np.flatnonzero(scores.in_bins(lens, 10).counts)[0])
    assert at / 10 < confidence <= (at + 1) / 10


def multiclass_loop(p, y, bins):
    """p is (V, C); the first of equal classes is predicted."""
    predicted = np.array([list(row).index(max(row)) for row in p])
    return definitions.ece(p.max(1), predicted == y, bins)


@pytest.mark.parametrize("classes", [2, 3, 7])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_multiclass_against_loops_and_torchmetrics(classes, dtype):
    p = torch.randn(800, classes, dtype=dtype).mul(2).softmax(1)
    y = torch.randint(0, classes, (800,))
    lens = CalibrationSketch("multiclass", classes).update_probabilities(p, y).top_label
    for bins in (10, 15, 20):
        expected = multiclass_loop(p.double().numpy(), y.numpy(), bins)
        assert scores.ece(lens, bins) == pytest.approx(expected, abs=1e-12)
        theirs = multiclass_calibration_error(p, y, classes, n_bins=bins)
        assert scores.ece(lens, bins) == pytest.approx(theirs.item(), abs=1e-5)


@pytest.mark.parametrize("levels", [10, 15, 20, 255])
def test_multiclass_confidence_on_edges(levels):
    """8-bit maps read as float64 lie on edges: 0.8 belongs to (0.7, 0.8], though 1 - 0.8 < 0.2."""
    rng = np.random.default_rng(levels)
    whole = rng.multinomial(levels, [0.6, 0.3, 0.1], size=400)
    p, y = whole / levels, rng.integers(0, 3, 400)
    lens = CalibrationSketch("multiclass", 3).update_probabilities(p, y).top_label
    for bins in (10, 15, 20):
        assert scores.ece(lens, bins) == pytest.approx(multiclass_loop(p, y, bins), abs=1e-12)


def test_multiclass_ties_go_to_the_first():
    p = np.array([[0.4, 0.4, 0.2], [0.25, 0.375, 0.375], [1 / 3, 1 / 3, 1 / 3]])
    lens = CalibrationSketch("multiclass", 3).update_probabilities(p, np.array([1, 1, 0])).top_label
    assert (lens.total, lens.positives) == (3, 2)


def test_two_classes_are_the_binary_sketch():
    p, y = segmentation(2000)
    both = np.stack((1 - p, p), axis=1)
    binary = CalibrationSketch().update_probabilities(both, y).top_label
    multiclass = CalibrationSketch("multiclass", 2).update_probabilities(both, y).top_label
    np.testing.assert_array_equal(binary.counts, multiclass.counts)
    np.testing.assert_allclose(binary.sums, multiclass.sums, atol=1e-4)  # 1 - p in float32


def test_channels_that_overlap_have_none():
    with pytest.raises(ValueError, match="top_label: channels of a multilabel sketch have no comm"):
        _ = CalibrationSketch("multilabel", 2).top_label
