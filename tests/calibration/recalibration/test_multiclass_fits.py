"""Several classes: one temperature for all; the other methods one class against the rest."""

import numpy as np
import pytest
import torch
from scipy.optimize import minimize_scalar
from sklearn.linear_model import LogisticRegression
from torch.nn.functional import cross_entropy

from gradsurge.calibration import CalibrationSketch
from gradsurge.calibration.recalibration import fit_recalibration, recalibrated_scores
from gradsurge.calibration.recalibration.log_odds import against_rest
from tests.calibration.recalibration.examples import class_logits


def filled(z, y):
    return CalibrationSketch("multiclass", z.shape[1]).update_logits(z.T[None], y[None])


def voxel_nll(z, y, temperature):
    return float(cross_entropy(torch.tensor(z) / temperature, torch.tensor(y)))


@pytest.mark.parametrize("spread", [1.0, 4.0, 12.0])
@pytest.mark.parametrize("temperature", [0.3, 1.0, 6.0])
def test_temperature_and_its_nll_are_those_of_the_voxels(spread, temperature):
    z, y = class_logits(spread=spread, temperature=temperature, classes=4)
    best = minimize_scalar(
        lambda x: voxel_nll(z, y, np.exp(x)), bounds=(-2.3, 3), options={"xatol": 1e-8}
    )
    sketch = filled(z, y)
    found = fit_recalibration("temperature", sketch)
    assert found.temperatures[0] == pytest.approx(np.exp(best.x), rel=0.005)
    assert not found.at_bound
    after = recalibrated_scores(sketch, found).nll
    assert abs(after - voxel_nll(z, y, found.temperatures[0])) <= after.error
    assert after.error < 1e-3 * after


def test_voxels_with_one_common_gap_are_the_hardest_for_the_interpolation():
    rng = np.random.default_rng(0)
    z = np.tile([9.0, 0.0, -3.0], (40000, 1)) + rng.normal(size=(40000, 3)) * 0.1
    y = np.where(np.arange(40000) < 40, 1, 0)
    best = minimize_scalar(lambda x: voxel_nll(z, y, np.exp(x)), bounds=(-2, 2))
    found = fit_recalibration("temperature", filled(z, y))
    assert found.temperatures[0] == pytest.approx(np.exp(best.x), rel=0.01)


def test_temperature_from_probabilities():
    z, y = class_logits(n=50_000, temperature=2.0, spread=1.5)
    p = torch.tensor(z).softmax(1).T[None].float()
    sketch = CalibrationSketch("multiclass", 3).update_probabilities(p, y[None])
    assert fit_recalibration("temperature", sketch).temperatures[0] == pytest.approx(2.0, rel=0.02)


@pytest.mark.parametrize(("sign", "bound"), [(1, 0.1), (-1, 20.0)])
def test_temperature_stops_at_its_bounds_and_says_so(sign, bound):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 500)
    z = sign * 3.0 * np.eye(3)[y]
    found = fit_recalibration("temperature", filled(z, y))
    assert found.temperatures == (pytest.approx(bound, rel=1e-12),)
    assert found.at_bound
    assert f"temperature at its bound {bound:g}" in found.note


def test_platt_is_one_class_against_the_rest_then_normalised():
    z, y = class_logits(temperature=1.7)
    found = fit_recalibration("platt", filled(z, y))
    rest = against_rest(torch.tensor(z.T)).numpy()
    expected = np.empty_like(rest)
    for c in range(3):
        oracle = LogisticRegression(C=np.inf, tol=1e-10).fit(rest[c][:, None], y == c)
        expected[c] = oracle.predict_proba(rest[c][:, None])[:, 1]
        assert found.scales[c] == pytest.approx(oracle.coef_[0, 0], rel=0.01)
        assert found.biases[c] == pytest.approx(oracle.intercept_[0], abs=0.01)
    applied = found.apply_logits(z.T, channel_axis=0)
    np.testing.assert_allclose(applied, expected / expected.sum(0), atol=2e-3)


def test_odds_against_the_rest_keep_what_one_minus_p_would_lose():
    z = torch.tensor([[50.0, 3.0], [0.0, 3.0], [1.0, 3.0], [-40.0, 3.0]], dtype=torch.float64)
    expected = [
        float(z[c, v] - torch.cat((z[:c, v], z[c + 1 :, v])).logsumexp(0))
        for c in range(4)
        for v in range(2)
    ]
    np.testing.assert_allclose(against_rest(z).flatten(), expected, rtol=1e-14)


def test_a_class_that_never_occurs_is_left_unchanged():
    z, y = class_logits()
    y[y == 2] = 0
    found = fit_recalibration("bias", filled(z, y))
    assert found.note == "class 2: no positive among 6000 voxels, left unchanged"
    assert found.biases[2] == 0.0
    assert found.biases[0] > 0.1


def test_a_voxel_that_every_class_disowns_still_sums_to_one():
    z, y = class_logits()
    found = fit_recalibration("platt", filled(z, y))
    far = type(found)(
        kind="multiclass", classes=3, scales=(10.0,) * 3, biases=(-300.0,) * 3, limits=(16.6,) * 3
    )
    p = far.apply_logits(np.zeros((1, 3, 2), np.float32))
    np.testing.assert_allclose(p, 1 / 3, rtol=1e-6)
