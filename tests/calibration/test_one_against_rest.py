"""Per-class likelihoods of multiclass logits, against float64 formulas that saturate nowhere."""

import numpy as np
import pytest
from scipy.special import logsumexp

from gradsurge.calibration import CalibrationSketch
from gradsurge.calibration.scores import nll


@pytest.mark.parametrize("spread", [1.0, 15.0, 100.0])
def test_each_class_is_scored_from_its_log_odds(spread):
    rng = np.random.default_rng(0)
    z = rng.normal(0, spread, (2, 4, 9, 8))
    y = rng.integers(0, 4, (2, 9, 8))
    sketch = CalibrationSketch("multiclass", 4).update_logits(z, y)
    for c in range(4):
        others = np.delete(z, c, axis=1)
        odds = z[:, c] - logsumexp(others, axis=1)
        expected = np.logaddexp(0, np.where(y == c, -odds, odds)).mean()
        assert nll(sketch.lens(c)) == pytest.approx(expected, rel=1e-12)
    assert sketch.clipped == 0


def test_a_sure_and_wrong_voxel_costs_what_its_logit_says():
    sketch = CalibrationSketch("multiclass", 3)
    sketch.update_logits(np.array([50.0, 0.0, 0.0]).reshape(1, 3, 1), np.array([[1]]))
    assert sketch.nll() == pytest.approx(50.0, rel=1e-12)
    assert nll(sketch.lens(1)) == pytest.approx(50.0, rel=1e-12)
