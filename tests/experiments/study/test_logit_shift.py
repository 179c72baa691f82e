"""What corrections take off a logit, against the numbers they were made of."""

import numpy as np
import pytest
import torch

from gradsurge.calibration.recalibration import Bias, Equilibrium, Temperature
from gradsurge.experiments.study.logit_shift import logit_shift


def test_a_bias_is_taken_off_with_its_sign():
    one = Bias(kind="binary", classes=2, biases=(-0.4,), limits=(16.0,))
    assert logit_shift(one) == pytest.approx([0.4])
    two = Bias(kind="multilabel", classes=2, biases=(-0.4, 1.5), limits=(16.0, 16.0))
    assert logit_shift(two) == pytest.approx([0.4, -1.5])


def test_a_temperature_takes_nothing_off_where_the_model_is_in_doubt():
    halved = Temperature(kind="multilabel", classes=2, temperatures=(2.0, 3.0), limits=(16.0, 16.0))
    assert logit_shift(halved) == pytest.approx([0.0, 0.0])


def test_each_structure_against_background_is_the_ratio_of_their_rates():
    rates = torch.from_numpy(np.random.default_rng(0).uniform(0.5, 2.0, (3, 3)))
    rates.fill_diagonal_(0.0)
    expected = [np.log(float(rates[c, 0] / rates[0, c])) for c in (1, 2)]
    assert logit_shift(Equilibrium.from_rates(rates)) == pytest.approx(expected, rel=1e-6)


def test_beside_cross_entropy_it_is_what_the_method_says_of_the_sum():
    # METHOD 3: b = log((ce + region fg) / (ce + region bg)).
    rates, entropy = torch.tensor([[0.0, 1.0], [3.0, 0.0]]), torch.tensor([[0.5, 0.5]])
    found = logit_shift(Equilibrium.from_rates(rates, entropy))
    assert found == pytest.approx([np.log(3.5 / 1.5)], rel=1e-6)


def test_a_structure_that_is_out_of_the_question_has_no_shift():
    rates = torch.tensor([[0.0, 0.0], [3.0, 0.0]])
    assert logit_shift(Equilibrium.from_rates(rates)) == []
