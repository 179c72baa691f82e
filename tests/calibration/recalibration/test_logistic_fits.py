"""Temperature, Platt and bias against direct minimisation over voxels, and where they must stop."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from gradsurge.calibration import CalibrationSketch
from gradsurge.calibration.recalibration import fit_recalibration
from tests.calibration.recalibration.examples import binary_logits


def voxel_nll(z, y, scale, bias):
    t = scale * z + bias
    return np.mean(np.logaddexp(0.0, np.where(y == 1, -t, t)))


def minimum(objective, start):
    found = minimize(
        objective, start, method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-13}
    )
    return found.x


DATA = [
    {"seed": 0},
    {"seed": 1, "scale": 2.0, "bias": 1.5},
    {"seed": 2, "spread": 9.0, "scale": 0.1},  # logits of ±28, beyond float32's 1 - p
    {"seed": 3, "spread": 0.4, "scale": 1.0, "bias": -4.0},
]


@pytest.mark.parametrize("options", DATA)
def test_temperature_is_that_of_the_voxels(options):
    z, y = binary_logits(**options)
    (best,) = minimum(lambda x: voxel_nll(z, y, x[0], 0.0), [1.0])
    best = np.clip(best, 0.05, 10)
    found = fit_recalibration("temperature", CalibrationSketch().update_logits(z, y))
    assert found.temperatures[0] == pytest.approx(1 / best, rel=0.01)


@pytest.mark.parametrize("options", DATA)
def test_bias_is_that_of_the_voxels(options):
    z, y = binary_logits(**options)
    (best,) = minimum(lambda x: voxel_nll(z, y, 1.0, x[0]), [0.0])
    found = fit_recalibration("bias", CalibrationSketch().update_logits(z, y))
    assert found.biases[0] == pytest.approx(best, abs=0.01)
    assert found.note is None
    assert not found.at_bound


@pytest.mark.parametrize("options", DATA)
def test_platt_is_logistic_regression(options):
    z, y = binary_logits(**options)
    oracle = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(z[:, None], y)
    found = fit_recalibration("platt", CalibrationSketch().update_logits(z, y))
    assert found.scales[0] == pytest.approx(oracle.coef_[0, 0], rel=0.01)
    assert found.biases[0] == pytest.approx(oracle.intercept_[0], abs=0.01)


def test_a_known_temperature_is_recovered_from_float32_probabilities():
    z, y = binary_logits(n=200_000, scale=1.0, bias=0.0)
    p = expit(2.5 * z).astype(np.float32)
    found = fit_recalibration("temperature", CalibrationSketch().update_probabilities(p, y))
    assert found.temperatures[0] == pytest.approx(2.5, rel=0.02)


def sure_background():
    """Nearly all voxels are surely background, as Dice leaves them; others are over-confident."""
    rng = np.random.default_rng(0)
    core = rng.random(200_000) > 0.02
    z = np.where(core, rng.normal(-35, 6, core.size), rng.normal(0, 12, core.size).clip(-40, 15))
    return z, (rng.random(core.size) < np.where(core, expit(z), expit(z / 6))).astype(int)


@pytest.mark.parametrize("given", ["logits", "float32 probabilities"])
def test_sure_background_stays_sure(given):
    """Float32 ends at 16.6 on the side of 1, not on that of 0."""
    z, y = sure_background()
    (best,) = minimum(lambda x: voxel_nll(z, y, x[0], 0.0), [1.0])
    if given == "logits":
        sketch = CalibrationSketch().update_logits(z, y)
    else:
        sketch = CalibrationSketch().update_probabilities(expit(z).astype(np.float32), y)
    found = fit_recalibration("temperature", sketch)
    assert found.temperatures[0] == pytest.approx(1 / best, rel=0.01)
    np.testing.assert_allclose(found.apply_logits(np.array([-40.0])), expit(-40 * best), rtol=0.1)
    platt = fit_recalibration("platt", sketch)
    oracle = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(z[:, None], y)
    assert platt.scales[0] == pytest.approx(oracle.coef_[0, 0], rel=0.01)


def test_one_voxel_does_not_move_a_fit():
    z, y = sure_background()
    plain, more = (
        fit_recalibration("temperature", CalibrationSketch().update_logits(*voxels))
        for voxels in ((z, y), (np.append(z, 20.0), np.append(y, 1)))
    )
    assert more.temperatures[0] == pytest.approx(plain.temperatures[0], rel=1e-3)


def test_zeros_of_a_coarse_map_are_not_infinitely_sure():
    """8 bits: what is 0 is below 1/510, and may hold positives."""
    z, y = binary_logits(n=50_000)
    coarse = np.round(expit(6 * z) * 255) / 255
    assert y[coarse == 0].any()
    found = fit_recalibration("temperature", CalibrationSketch().update_probabilities(coarse, y))
    assert found.limits[0] == pytest.approx(16.6, abs=0.1)
    assert found.floors[0] == pytest.approx(-16.6, abs=0.1)
    assert not found.at_bound


def test_a_shift_of_the_prior_is_recovered_by_the_bias():
    """Odds of a population with k times as many positives are k times as high."""
    z, y = binary_logits(n=200_000, scale=1.0, bias=0.0)
    kept = (y == 1) | (np.random.default_rng(0).random(y.size) < 0.1)
    found = fit_recalibration("bias", CalibrationSketch().update_logits(z[kept], y[kept]))
    assert found.biases[0] == pytest.approx(np.log(10), abs=0.03)


def test_each_channel_of_a_multilabel_sketch_is_fitted_by_itself():
    first, second = binary_logits(0), binary_logits(1, scale=2.0, bias=1.5)
    z, y = (np.stack(pair)[None] for pair in zip(first, second, strict=True))
    together = CalibrationSketch("multilabel", 2).update_logits(z, y)
    for method, field in (("temperature", "temperatures"), ("platt", "scales"), ("bias", "biases")):
        alone = [
            getattr(fit_recalibration(method, CalibrationSketch().update_logits(*pair)), field)[0]
            for pair in (first, second)
        ]
        assert list(getattr(fit_recalibration(method, together), field)) == alone


@pytest.mark.parametrize("method", ["temperature", "platt"])
@pytest.mark.parametrize("gap", [0.01, 5.0, 50.0])
def test_separable_data_stop_at_the_bound_and_say_so(method, gap):
    z = np.array([-2 * gap, -gap, gap, 2 * gap])
    found = fit_recalibration(method, CalibrationSketch().update_logits(z, z > 0))
    scale = found.scales[0] if method == "platt" else 1 / found.temperatures[0]
    assert scale == 10.0
    assert found.at_bound
    assert "scale at its bound 10 (temperature 0.1)" in found.note
    assert "separable" in found.note


def test_separable_away_from_zero_keeps_the_boundary_between_the_classes():
    z = np.array([3.0, 4.0, 6.0, 7.0])
    found = fit_recalibration("platt", CalibrationSketch().update_logits(z, z > 5))
    assert found.at_bound
    low, high = found.apply_logits(np.array([4.0, 6.0]))
    assert low < 0.01
    assert high > 0.99


def test_a_model_that_is_wrong_way_round_keeps_a_positive_scale():
    z, y = binary_logits(scale=-1.0)
    for method in ("temperature", "platt"):
        found = fit_recalibration(method, CalibrationSketch().update_logits(z, y))
        assert found.at_bound
        assert "bound 0.05 (temperature 20)" in found.note


@pytest.mark.parametrize("method", ["temperature", "platt", "bias", "isotonic"])
@pytest.mark.parametrize("outcome", [0, 1])
def test_one_outcome_alone_teaches_nothing(method, outcome):
    z = np.linspace(-5, 5, 101)
    sketch = CalibrationSketch().update_logits(z, np.full(101, outcome))
    found = fit_recalibration(method, sketch)
    missing = "negative" if outcome else "positive"
    assert found.note == f"no {missing} among 101 voxels, left unchanged"
    np.testing.assert_allclose(found.apply_logits(z), expit(z), rtol=1e-12)


@pytest.mark.parametrize("method", ["temperature", "platt", "bias", "isotonic"])
def test_an_empty_sketch_is_refused(method):
    with pytest.raises(ValueError, match="sketch: expected voxels to fit on, got an empty sketch"):
        fit_recalibration(method, CalibrationSketch())


def test_voxels_that_are_all_alike_get_a_bias():
    sketch = CalibrationSketch().update_probabilities(np.full(10, 0.9), np.arange(10) < 3)
    found = fit_recalibration("platt", sketch)
    assert found.scales == (1.0,)
    assert found.note == "all voxels alike, only a bias was fitted"
    assert found.apply_probabilities(np.array([0.9]))[0] == pytest.approx(0.3)


def test_voxels_that_are_all_alike_have_a_temperature_unless_they_are_at_one_half():
    y = np.arange(10) < 8
    sketch = CalibrationSketch().update_probabilities(np.full(10, 0.9), y)
    expected = np.log(9) / np.log(4)  # from odds of 9 to odds of 4
    found = fit_recalibration("temperature", sketch)
    assert found.temperatures[0] == pytest.approx(expected, rel=1e-6)
    sketch = CalibrationSketch().update_probabilities(np.full(10, 0.5), y)
    found = fit_recalibration("temperature", sketch)
    assert found.temperatures == (1.0,)
    assert found.note == "all voxels at 1/2, left unchanged"


def test_hard_masks_as_probabilities_become_their_frequencies():
    p = np.repeat([0.0, 1.0], [90, 10]).astype(np.float32)
    y = np.repeat([0, 1, 0, 1], [81, 9, 2, 8])
    sketch = CalibrationSketch().update_probabilities(p, y)
    for method in ("platt", "isotonic"):
        found = fit_recalibration(method, sketch).apply_probabilities(p[[0, -1]])
        np.testing.assert_allclose(found, [0.1, 0.8], rtol=1e-5)


@pytest.mark.parametrize("method", ["sharpen", ""])
def test_an_unknown_method_is_named(method):
    with pytest.raises(ValueError, match="method: expected one of temperature, platt, bias, iso"):
        fit_recalibration(method, CalibrationSketch())


def test_equilibrium_is_not_fitted():
    with pytest.raises(ValueError, match="comes from a trained loss; use Equilibrium"):
        fit_recalibration("equilibrium", CalibrationSketch())
