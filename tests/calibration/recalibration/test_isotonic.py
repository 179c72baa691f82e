"""Isotonic regression against scikit-learn's on the voxels themselves."""

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

from gradsurge.calibration import CalibrationSketch
from gradsurge.calibration.recalibration import Isotonic, fit_recalibration
from tests.calibration.recalibration.examples import binary_logits


def own_cells(seed, n):
    """Return probabilities with a cell each, rising frequencies, not calibrated."""
    rng = np.random.default_rng(seed)
    p = (np.sort(rng.choice(np.arange(50, 25150), n, replace=False)) + 0.5) / 25200
    return p, rng.random(n) < p**2


@pytest.mark.parametrize(("seed", "n"), [(0, 30), (1, 500), (2, 3000)])
def test_it_is_scikit_learns_where_each_voxel_has_its_own_cell(seed, n):
    p, y = own_cells(seed, n)
    oracle = IsotonicRegression(y_min=0.5 / n, y_max=1 - 0.5 / n).fit_transform(p, y)
    fitted = fit_recalibration("isotonic", CalibrationSketch().update_probabilities(p, y))
    np.testing.assert_allclose(fitted.apply_probabilities(p), oracle, atol=1e-10)


def test_a_block_has_its_frequency_to_the_last_bit():
    rng = np.random.default_rng(0)
    p = np.repeat(own_cells(0, 2000)[0], 7)  # seven voxels a cell: their frequency is rounded, too
    y, margin = rng.random(len(p)) < 0.2 + 0.5 * p, 0.5 / len(p)
    oracle = IsotonicRegression(y_min=margin, y_max=1 - margin).fit_transform(p, y)
    fitted = fit_recalibration("isotonic", CalibrationSketch().update_probabilities(p, y))
    blocks = np.split(y, np.flatnonzero(np.diff(oracle) > 1e-9) + 1)
    frequencies = {min(max(b.sum() / len(b), margin), 1 - margin) for b in blocks}
    assert set(fitted.values[0]) == frequencies


def test_in_the_tails_it_is_scikit_learns_of_rounded_probabilities():
    z, y = binary_logits(n=20_000, spread=5.0)
    p = 1 / (1 + np.exp(-z))
    oracle = IsotonicRegression().fit_transform(p, y)
    fitted = fit_recalibration("isotonic", CalibrationSketch().update_logits(z, y))
    found = fitted.apply_probabilities(p)
    assert np.mean(np.abs(found - oracle)) < 2e-3


def test_only_the_ends_of_blocks_are_kept():
    p = (np.arange(2000) + 0.5) / 2000
    sketch = CalibrationSketch().update_probabilities(p, p > 0.3)
    fitted = fit_recalibration("isotonic", sketch)
    assert len(fitted.knots[0]) == 4


def test_no_voxel_is_given_up_for_certain():
    p = np.repeat([0.1, 0.9], 50)
    fitted = fit_recalibration("isotonic", CalibrationSketch().update_probabilities(p, p > 0.5))
    found = fitted.apply_probabilities(np.array([0.0, 0.1, 0.9, 1.0]))
    np.testing.assert_allclose(found, [0.005, 0.005, 0.995, 0.995], rtol=1e-12)


def test_mean_probability_equals_the_frequency_on_the_fitted_data():
    p, y = own_cells(3, 2000)
    fitted = fit_recalibration("isotonic", CalibrationSketch().update_probabilities(p, y))
    assert fitted.apply_probabilities(p).mean() == pytest.approx(y.mean(), abs=1e-3)


def test_between_the_knots_it_is_numpys_interpolation():
    knots, values = (-3.0, -1.0, 0.5, 4.0), (0.1, 0.2, 0.2, 0.9)
    table = Isotonic(kind="binary", classes=2, knots=(knots,), values=(values,), limits=(16.6,))
    z = np.linspace(-6, 6, 241)
    np.testing.assert_allclose(table.apply_logits(z), np.interp(z, knots, values), rtol=1e-13)


@pytest.mark.parametrize(
    ("knots", "values"),
    [((0.0, 0.0), (0.1, 0.2)), ((0.0, 1.0), (0.2, 0.1)), ((0.0,), (1.1,)), ((0.0, 1.0), (0.1,))],
)
def test_a_table_that_does_not_rise_is_refused(knots, values):
    with pytest.raises(ValueError, match="knots and values: expected as many, rising"):
        Isotonic(kind="binary", classes=2, knots=(knots,), values=(values,), limits=(16.6,))
