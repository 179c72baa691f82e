"""Log-odds of sets of classes, against probabilities where these can still tell."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, softmax

from gradsurge.data import CaseError, LabelSet, logits_of_sets, regions_from_channels

SETS = [LabelSet("tumour", (2,)), LabelSet("kidney+tumour", (1, 2)), LabelSet("rest", (0,))]


@given(st.integers(0, 2**32 - 1), st.integers(3, 6))
def test_sigmoid_of_them_is_the_sum_of_the_softmax(seed, classes):
    z = np.random.default_rng(seed).normal(0, 3, (classes, 5, 4))
    expected = regions_from_channels(softmax(z, axis=0), SETS)
    np.testing.assert_allclose(expit(logits_of_sets(z, SETS)), expected, rtol=1e-10, atol=1e-14)


def test_nothing_saturates():
    z = np.array([0.0, -300.0, 500.0]).reshape(3, 1)
    found = logits_of_sets(z.astype(np.float32), [LabelSet("a", (1,)), LabelSet("b", (1, 2))])
    np.testing.assert_allclose(found[:, 0], [-800.0, 500.0])


def test_one_channel_is_class_one_against_zero():
    z = np.array([[2.0, -3.0]])
    both = logits_of_sets(z, [LabelSet("fg", (1,)), LabelSet("bg", (0,))])
    np.testing.assert_array_equal(both, np.stack((z[0], -z[0])))


@pytest.mark.parametrize("values", [(3,), (0, 1, 2)])
def test_sets_without_a_channel_or_without_a_rest_are_refused(values):
    with pytest.raises(CaseError, match="label set"):
        logits_of_sets(np.zeros((3, 2)), [LabelSet("x", values)])
