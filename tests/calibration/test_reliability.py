"""The reliability curve against scikit-learn, its intervals against SciPy."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.calibration import calibration_curve

from gradsurge.calibration import CalibrationSketch
from tests.calibration.definitions import segmentation


@pytest.mark.parametrize("bins", [5, 10, 15, 30])
def test_scikit_learns_calibration_curve(bins):
    p, y = segmentation(dtype=np.float64)
    curve = CalibrationSketch().update_probabilities(p, y).reliability(bins)
    frequency, probability = calibration_curve(y, p, n_bins=bins)
    kept = curve.counts > 0
    np.testing.assert_allclose(curve.frequency[kept], frequency, atol=1e-13)
    np.testing.assert_allclose(curve.probability[kept], probability, atol=1e-13)
    assert curve.counts.sum() == p.size
    np.testing.assert_array_equal(curve.upper, np.arange(1, bins + 1) / bins)
    np.testing.assert_array_equal(curve.lower[1:], curve.upper[:-1])


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_intervals_are_wilsons(confidence):
    p, y = segmentation(600)
    curve = CalibrationSketch().update_probabilities(p, y).reliability(15, confidence=confidence)
    kept = np.flatnonzero(curve.counts)
    assert {0.0, 1.0} & set(curve.frequency[kept])  # the ends of the interval are tried
    for k in kept:
        hits, trials = round(curve.frequency[k] * curve.counts[k]), int(curve.counts[k])
        exact = binomtest(hits, trials).proportion_ci(confidence, method="wilson")
        assert (curve.low[k], curve.high[k]) == pytest.approx((exact.low, exact.high), abs=1e-12)


def test_empty_bins_are_nan_with_a_count_of_zero():
    curve = CalibrationSketch().update_probabilities(np.array([0.05]), [1]).reliability(10)
    assert curve.counts.tolist() == [1] + [0] * 9
    for column in (curve.probability, curve.frequency, curve.low, curve.high):
        assert np.isnan(column[1:]).all()
        assert np.isfinite(column[0])


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95])
def test_bad_confidence(confidence):
    with pytest.raises(ValueError, match="confidence: expected a number between 0 and 1, got"):
        CalibrationSketch().reliability(confidence=confidence)


def test_a_class_must_be_named_where_there_are_several():
    sketch = CalibrationSketch("multiclass", 3)
    with pytest.raises(ValueError, match=r"label: which class\? expected one of \[1, 2\]"):
        sketch.reliability()
    with pytest.raises(ValueError, match=r"label: expected one of \[1, 2\], got 3"):
        sketch.reliability(label=3)
    assert sketch.reliability(label=0).counts.sum() == 0
