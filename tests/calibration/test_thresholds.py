"""Dice of hard masks against counting voxels."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradsurge.calibration import CalibrationSketch
from gradsurge.calibration.thresholds import threshold_curve
from tests.calibration import definitions
from tests.calibration.definitions import RESOLUTION, hard_pairs, segmentation


def sketched(p, y):
    return CalibrationSketch().update_probabilities(p, y)


def mask_and_label_are_empty(p, y, threshold):
    return not y.any() and not (p > threshold).any()


@settings(max_examples=150, deadline=None)
@given(pairs=hard_pairs(), step=st.integers(0, RESOLUTION))
def test_dice_is_exact_at_the_edges(pairs, step):
    p, y = pairs
    p = p.astype(np.float64)
    sketch = sketched(p, y)
    for threshold in (0.0, 0.25, 0.5, 0.95, 1.0, 3 / RESOLUTION, step / RESOLUTION):
        found = sketch.dice_at(threshold)
        if mask_and_label_are_empty(p, y, threshold):
            assert math.isnan(found)
        else:
            assert found == pytest.approx(definitions.dice(p, y, threshold), abs=1e-14)
            assert found.error == 0.0


@settings(max_examples=150, deadline=None)
@given(pairs=hard_pairs(), log=st.floats(-31, 0), other_end=st.booleans())
def test_dice_is_bounded_between_the_edges(pairs, log, other_end):
    p, y = pairs
    p, threshold = p.astype(np.float64), 1 - 10.0**log if other_end else 10.0**log
    for t in (threshold, float(p[0]), float(p[-1])):
        if not mask_and_label_are_empty(p, y, t):
            found = sketched(p, y).dice_at(t)
            assert abs(found - definitions.dice(p, y, t)) <= found.error + 1e-12


@settings(max_examples=200, deadline=None)
@given(hard_pairs())
def test_best_threshold_against_brute_force(pairs):
    p, y = pairs
    p = p.astype(np.float64)
    if not y.any():
        assert math.isnan(sketched(p, y).best_threshold().threshold)
        return
    best = max(definitions.dice(p, y, t) for t in {0.0, *p.tolist()})
    threshold, found = sketched(p, y).best_threshold()
    assert found == pytest.approx(definitions.dice(p, y, threshold), abs=1e-12)
    assert found <= best + 1e-12 <= found + found.error + 2e-12


def test_best_threshold_of_what_a_network_gives():
    p, y = segmentation(5000)
    best = max(definitions.dice(p, y, t) for t in np.unique(p))
    threshold, found = sketched(p, y).best_threshold()
    assert found == pytest.approx(definitions.dice(p.astype(float), y, threshold), abs=1e-14)
    assert best - 1e-3 < found <= best + 1e-14
    assert best <= found + found.error < best + 5e-3


def test_of_equal_thresholds_the_one_nearest_to_a_half():
    def best(p, y):
        return sketched(np.array(p), np.array(y)).best_threshold()

    assert best([0.1, 0.9], [0, 1]) == (0.5, 1.0)
    assert best([0.0, 1e-9], [0, 1]).threshold == pytest.approx(1e-9, rel=0.05)
    assert best([0.99995, 1.0], [0, 1]).dice == 1.0
    assert 0.99995 <= best([0.99995, 1.0], [0, 1]).threshold < 1.0
    assert best([0.0, 0.0], [0, 1]).dice == 0.0  # no mask p > t holds p = 0


@settings(max_examples=50, deadline=None)
@given(hard_pairs())
def test_every_point_of_the_curve(pairs):
    p, y = pairs
    p = p.astype(np.float64)
    curve = threshold_curve(sketched(p, y).lens(), 20)
    for k, threshold in enumerate(curve.thresholds):
        marked = p > k / 20
        assert threshold == k / 20
        assert curve.true_positives[k] == np.sum(marked & y)
        assert curve.false_positives[k] == np.sum(marked & ~y)
        assert curve.false_negatives[k] == np.sum(~marked & y)
        if not mask_and_label_are_empty(p, y, threshold):
            assert curve.dice[k] == pytest.approx(definitions.dice(p, y, threshold))
        else:
            assert np.isnan(curve.dice[k])


@pytest.mark.parametrize("threshold", [-0.1, 1.1, math.nan])
def test_thresholds_outside(threshold):
    with pytest.raises(ValueError, match=r"threshold: expected a number in \[0, 1\], got"):
        CalibrationSketch().dice_at(threshold)
