"""Exact scores against loops, scikit-learn and torchmetrics."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from monai.metrics import CalibrationErrorMetric
from sklearn.metrics import brier_score_loss, log_loss
from torchmetrics.functional.classification import binary_calibration_error

from gradsurge.calibration import CalibrationSketch, scores
from tests.calibration import definitions
from tests.calibration.definitions import RESOLUTION, hard_pairs, segmentation

BINS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 16, 20, 24, 25, 30, 40, 50, 60, 75, 100)


def sketched(p, y):
    return CalibrationSketch().update_probabilities(p, y)


@pytest.mark.parametrize("bins", BINS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_errors_in_bins_are_those_of_the_loops(bins, dtype):
    p, y = segmentation(dtype=dtype)
    sketch = sketched(p, y)
    assert sketch.ece(bins) == pytest.approx(definitions.ece(p, y, bins), abs=1e-12)
    assert sketch.ace(bins) == pytest.approx(definitions.ace(p, y, bins), abs=1e-12)
    assert sketch.mce(bins) == pytest.approx(definitions.mce(p, y, bins), abs=1e-12)
    few = definitions.mce(p, y, bins, minimum=40)
    assert sketch.mce(bins, minimum=40) == pytest.approx(few, abs=1e-12, nan_ok=True)


@settings(max_examples=150, deadline=None)
@given(hard_pairs())
def test_errors_in_bins_of_hard_inputs(pairs):
    p, y = pairs
    sketch = sketched(p, y)
    for bins in (1, 10, 15, 20, 100):
        assert sketch.ece(bins) == pytest.approx(definitions.ece(p, y, bins), abs=1e-12)
        assert sketch.ace(bins) == pytest.approx(definitions.ace(p, y, bins), abs=1e-12)
        assert sketch.mce(bins) == pytest.approx(definitions.mce(p, y, bins), abs=1e-12)


@pytest.mark.parametrize("levels", [15, 255, 65535, RESOLUTION])
def test_quantised_maps_stay_in_their_bins(levels):
    p = np.arange(levels + 1) / levels  # in float64 many of these are edges k/bins to the last bit
    y = np.arange(levels + 1) % 3 == 0
    bins = 20
    edges = np.arange(1, bins + 1) / bins
    counts = np.bincount(np.searchsorted(edges, p), minlength=bins)
    joined = scores.in_bins(sketched(p, y).lens(), bins)
    np.testing.assert_array_equal(joined.counts, counts)


def test_both_sides_of_every_fine_edge():
    # p R rounds; the bin must be decided by p <= k/R all the same.
    edges = np.arange(1, RESOLUTION) / RESOLUTION
    for p, bin_of_first in ((edges, 0), (np.nextafter(edges, 0), 0), (np.nextafter(edges, 1), 1)):
        counts = sketched(p, np.ones(p.size, bool)).lens().counts[1]
        expected = np.zeros(RESOLUTION, np.int64)
        expected[bin_of_first : bin_of_first + p.size] = 1
        np.testing.assert_array_equal(counts, expected)


def test_sums_of_equal_values_do_not_drift():
    # A running float64 sum of 2^18 times 0.1 is off by 4e-12 of itself.
    p = np.full(1 << 18, 0.1)
    y = np.arange(p.size) % 10 == 0
    exact = abs(math.fsum(p) - math.fsum(y)) / p.size
    assert sketched(p, y).ece() == pytest.approx(exact, abs=1e-15)


@settings(max_examples=100, deadline=None)
@given(hard_pairs())
def test_brier_nll_and_sharpness(pairs):
    p, y = pairs
    sketch, exact = sketched(p, y), p.astype(np.float64)
    brier = brier_score_loss(y, exact, labels=[0, 1], pos_label=1)
    assert sketch.brier() == pytest.approx(brier, abs=1e-13)
    assert sketch.brier("sum") == pytest.approx(2 * brier, abs=1e-13)
    assert sketch.sharpness() == pytest.approx(np.mean(exact * (1 - exact)), abs=1e-13)
    truth = np.where(y, exact, 1 - exact)
    assert sketch.clipped == np.sum(truth < 2.0**-24)
    clipped = np.mean(-np.log(np.maximum(truth, 2.0**-24)))
    assert sketch.nll() == pytest.approx(clipped, abs=1e-13)


def test_nll_is_scikit_learns_where_nothing_saturates():
    p, y = segmentation(dtype=np.float64)
    p = p.clip(1e-6, 1 - 1e-6)
    assert sketched(p, y).nll() == pytest.approx(log_loss(y, p), abs=1e-12)
    assert sketched(p, y).clipped == 0


@pytest.mark.parametrize("bins", [10, 15, 20])
@pytest.mark.parametrize(("norm", "score"), [("l1", scores.ece), ("max", scores.mce)])
def test_torchmetrics_agrees_away_from_edges(bins, norm, score):
    # Its bins are [lo, hi) and float32; random values lie on no edge.
    p, y = np.random.default_rng(0).random(500), np.random.default_rng(1).random(500) < 0.4
    theirs = binary_calibration_error(
        torch.from_numpy(p).float(), torch.from_numpy(y).int(), n_bins=bins, norm=norm
    )
    assert score(sketched(p, y).lens(), bins) == pytest.approx(theirs.item(), abs=1e-6)


def test_known_fault_of_monai_float32_sums():
    """MONAI adds a million voxels in float32: its mean of a background channel is off."""
    rng = np.random.default_rng(0)
    voxels = 1 << 20
    foreground = rng.uniform(5e-5, 1.5e-4, voxels).astype(np.float32)
    y = rng.random(voxels) < foreground
    p = np.stack((1.0 - foreground, foreground))
    metric = CalibrationErrorMetric(num_bins=15, right=True, metric_reduction="none")
    one_hot = torch.from_numpy(np.stack((~y, y)).astype(np.float32))
    theirs = metric(y_pred=torch.from_numpy(p)[None], y=one_hot[None])[0, 0].item()
    background = CalibrationSketch().update_probabilities(p[0], ~y)
    exact = abs(math.fsum(p[0]) - math.fsum(~y)) / voxels  # all in the last bin
    assert background.ece() == pytest.approx(exact, abs=1e-12)
    assert abs(theirs - exact) > 10 * exact


def test_known_fault_of_torchmetrics_guessing():
    """torchmetrics takes values for logits if one is outside [0, 1]; here that is an error."""
    p, y = torch.rand(100), torch.arange(100) % 2
    alone = binary_calibration_error(p, y)
    stretched = torch.cat((p, torch.tensor([1.0 + 1e-6])))
    guessed = binary_calibration_error(stretched, torch.cat((y, y[:1])))
    assert abs(guessed - alone) > 0.05  # one rounding error turned every probability
    with pytest.raises(ValueError, match=r"probabilities: .* for logits there is update_logits"):
        sketched(stretched, torch.cat((y, y[:1])))


def test_nothing_counted_gives_nan():
    empty = CalibrationSketch()
    for score in ("nll", "brier", "sharpness", "ece", "ace", "mce", "class_wise_ece"):
        assert math.isnan(getattr(empty, score)()), score


@pytest.mark.parametrize("bins", [0, -1, 7 * 11, RESOLUTION + 1])
def test_bins_that_do_not_divide(bins):
    with pytest.raises(ValueError, match=rf"bins: expected a divisor of 25200, got {bins}; the ne"):
        scores.ece(CalibrationSketch().lens(), bins)


def test_form_of_the_brier_score():
    with pytest.raises(ValueError, match="form: expected 'single' or 'sum', got 'double'"):
        CalibrationSketch().brier("double")
