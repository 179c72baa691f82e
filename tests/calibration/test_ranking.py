"""AUROC and average precision against scikit-learn, within the bound they state."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.metrics import average_precision_score, roc_auc_score

from gradsurge.calibration import CalibrationSketch
from tests.calibration.definitions import hard_pairs, segmentation


def sketched(p, y):
    return CalibrationSketch().update_probabilities(p, y)


@settings(max_examples=200, deadline=None)
@given(hard_pairs())
def test_the_truth_is_within_the_bound(pairs):
    p, y = pairs
    if y.any():
        found = sketched(p, y).average_precision()
        assert abs(found - average_precision_score(y, p)) <= found.error + 1e-12
    if y.any() and not y.all():
        found = sketched(p, y).auroc()
        assert abs(found - roc_auc_score(y, p)) <= found.error + 1e-12


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_bound_is_small_on_what_a_network_gives(dtype):
    p, y = segmentation(50_000, dtype=dtype)
    auroc, precision = sketched(p, y).auroc(), sketched(p, y).average_precision()
    assert abs(auroc - roc_auc_score(y, p)) <= auroc.error < 2e-4
    assert abs(precision - average_precision_score(y, p)) <= precision.error < 2e-3


def test_saturated_values_are_ties_without_doubt():
    p = np.repeat([0.0, 1.0], 50)
    y = np.random.default_rng(0).random(100) < 0.3 + 0.4 * p
    auroc, precision = sketched(p, y).auroc(), sketched(p, y).average_precision()
    assert (auroc.error, precision.error) == (0.0, 0.0)
    assert auroc == pytest.approx(roc_auc_score(y, p), abs=1e-14)
    assert precision == pytest.approx(average_precision_score(y, p), abs=1e-14)


def test_ranks_in_the_tails_are_told_apart():
    # All of these are in the first and the last of the uniform bins.
    p = np.array([1e-30, 1e-20, 1e-12, 1e-9, 1e-6, 1 - 1e-5, 1 - 1e-6, 1 - 1e-7])
    y = np.arange(8) % 2 == 0
    found = sketched(p, y).auroc()
    assert found.error == 0.0
    assert found == pytest.approx(roc_auc_score(y, p))


def test_one_outcome_alone_has_no_rank():
    p = np.array([0.2, 0.7])
    assert math.isnan(sketched(p, np.array([0, 0])).auroc())
    assert math.isnan(sketched(p, np.array([1, 1])).auroc())
    assert math.isnan(sketched(p, np.array([0, 0])).average_precision())
    assert sketched(p, np.array([1, 1])).average_precision() == 1.0
