"""The closed-form correction as a recalibration: that of `posterior_from_equilibrium`, kept."""

import numpy as np
import pytest
import torch

from gradsurge.calibration import posterior_from_equilibrium
from gradsurge.calibration.recalibration import Equilibrium
from tests.calibration.recalibration.examples import KINDS, outputs, rates_of
from tests.calibration.test_equilibrium import WRONG_RATES


@pytest.mark.parametrize("kind", ["multiclass", "multilabel"])
def test_it_is_the_posterior_of_the_rates(kind):
    rates = rates_of(kind)
    z, p = (torch.tensor(x) for x in outputs(kind))
    found = Equilibrium.from_rates(*rates)
    assert (found.kind, found.classes) == (kind, KINDS[kind])
    expected = posterior_from_equilibrium(p, *rates)
    torch.testing.assert_close(found.apply_probabilities(p), expected)
    torch.testing.assert_close(found.apply_logits(z), expected)


def test_binary_takes_the_foreground_alone():
    rates = rates_of("binary")
    z, p = (torch.tensor(x) for x in outputs("binary"))
    both = torch.stack((1 - p, p), dim=1)
    expected = posterior_from_equilibrium(both, *rates)
    found = Equilibrium.from_rates(*rates)
    torch.testing.assert_close(found.apply_probabilities(p), expected[:, 1])
    torch.testing.assert_close(found.apply_logits(z), expected[:, 1])
    torch.testing.assert_close(found.apply_probabilities(both, channel_axis=1), expected)


def test_without_cross_entropy_it_is_a_shift_of_the_logit_even_where_p_is_certain():
    z = np.array([-60.0, -3.0, 0.0, 3.0, 60.0])
    rates = torch.tensor([[0.0, 2.0], [5.0, 0.0]])
    expected = 1 / (1 + np.exp(-(z - np.log(2.5))))
    for cross_entropy in (None, torch.zeros(1, 2)):
        found = Equilibrium.from_rates(rates, cross_entropy, 20.0)
        np.testing.assert_allclose(found.apply_logits(z), expected, rtol=1e-9)
        certain = found.apply_probabilities(np.array([0.0, 1.0], np.float32))
        np.testing.assert_allclose(certain, [0.0, 1.0], atol=1e-30)


@pytest.mark.parametrize("shape", [(2,), (1, 2, 3), (3, 3, 3), (1, 1, 1)])
def test_rates_of_no_known_shape_are_refused(shape):
    with pytest.raises(ValueError, match="region: expected rates"):
        Equilibrium.from_rates(torch.ones(shape))


def test_rates_that_pull_nowhere_are_refused():
    with pytest.raises(ValueError, match="region: expected positive rates between all labels"):
        Equilibrium.from_rates(torch.zeros(1, 2, 2))


@pytest.mark.parametrize("rates", WRONG_RATES)
def test_rates_that_are_none(rates):
    given, error, says = WRONG_RATES[rates]
    with pytest.raises(error, match=says):
        Equilibrium.from_rates(*given)
