"""The closed-form correction alone; that it undoes real losses' shifts is in tests/theory."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gradsurge.calibration import posterior_from_equilibrium


def balanced(r: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Return p for which r is stationary, by fixed-point iteration from the definition."""
    p = r.copy()
    for _ in range(20000):
        inflow = (r[:, None] * rates).sum(0)  # what pushes class c down, per p_c
        outflow = r * (rates @ p)  # what pulls class c up
        p = 0.5 * p + 0.5 * outflow / inflow
        p /= p.sum()
    return p


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), classes=st.integers(2, 5))
def test_it_inverts_the_balance(seed, classes):
    rng = np.random.default_rng(seed)
    r = rng.dirichlet(np.ones(classes)) * 0.96 + 0.04 / classes
    push, pull = rng.uniform(0.2, 1, classes), rng.uniform(0.5, 3, classes)
    rates = (push[None, :] + pull[:, None]) * (1 - np.eye(classes))
    p = torch.from_numpy(balanced(r, rates)).view(1, classes, 1)
    found = posterior_from_equilibrium(p, torch.from_numpy(rates))
    np.testing.assert_allclose(found.flatten().numpy(), r, atol=1e-6)


def test_equal_rates_change_nothing():
    p = torch.rand(2, 4, 5, 6).softmax(1)
    torch.testing.assert_close(posterior_from_equilibrium(p, torch.ones(1, 4, 4)), p)


def test_two_classes_are_a_shift_of_the_logit():
    z = torch.linspace(-30, 30, 61, dtype=torch.float64)
    p = torch.stack((torch.sigmoid(-z), torch.sigmoid(z))).unsqueeze(0)
    rates = torch.tensor([[0.0, 2.0], [5.0, 0.0]])
    expected = torch.sigmoid(z - np.log(2.5))
    torch.testing.assert_close(posterior_from_equilibrium(p, rates)[0, 1], expected)


def test_channels_are_corrected_one_by_one():
    p = torch.tensor([[[0.8], [0.5]]])
    rates = torch.tensor([[[0.0, 1.0], [3.0, 0.0]], [[0.0, 2.0], [2.0, 0.0]]])
    found = posterior_from_equilibrium(p, rates).flatten()
    torch.testing.assert_close(found, torch.tensor([0.8 / (0.8 + 3 * 0.2), 0.5]))


def test_one_channel_is_not_taken_for_one_class():
    p = torch.tensor([[[0.8]]])
    rates = torch.tensor([[[0.0, 1.0], [3.0, 0.0]]])
    assert posterior_from_equilibrium(p, rates).item() == pytest.approx(0.8 / 1.4)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("size", [1e-30, 1e-9, 1.0, 1e9])
def test_certain_voxels_and_tiny_rates_stay_numbers(dtype, size):
    p = torch.tensor([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.5, 0.5, 0.0]], dtype=dtype)
    rates = torch.tensor([[0.0, 1.0, 2.0], [3.0, 0.0, 1.0], [2.0, 2.0, 0.0]]).double() * size
    r = posterior_from_equilibrium(p.unsqueeze(-1), rates)
    assert r.dtype == dtype
    assert bool(r.isfinite().all())
    torch.testing.assert_close(r.sum(1), torch.ones(3, 1, dtype=dtype), atol=5e-3, rtol=0)
    assert r[0, 2] == 1
    assert r[1, 0] == 1


@pytest.mark.parametrize(
    ("p", "rates", "error", "text"),
    [
        ([0.5, 0.5], torch.ones(2, 2), TypeError, "probabilities: expected a torch.Tensor"),
        (torch.rand(3), torch.ones(3, 3), ValueError, r"expected \(N, C, \*S\)"),
        (torch.rand(1, 3, 2), torch.ones(2, 2), ValueError, r"\(1, 3, 3\).*got \(2, 2\)"),
        (torch.rand(1, 3, 2), [[0.0]], TypeError, "region: expected a torch.Tensor"),
        (
            torch.ones(1, 2, 3, dtype=torch.long),
            torch.ones(2, 2),
            TypeError,
            r"probabilities: expected a floating dtype, got torch\.int64",
        ),
        (
            torch.full((1, 2, 3), 1.5),
            torch.ones(2, 2),
            ValueError,
            r"probabilities: expected numbers in \[0, 1\], got 1\.5",
        ),
        (
            torch.full((1, 2, 3), torch.nan),
            torch.ones(2, 2),
            ValueError,
            r"probabilities: expected numbers in \[0, 1\], got nan",
        ),
    ],
)
def test_bad_input(p, rates, error, text):
    with pytest.raises(error, match=text):
        posterior_from_equilibrium(p, rates)


def pulls(up, down):
    return torch.tensor([[0.0, up], [down, 0.0]])


ONES = torch.ones(1, 2, 2)
WRONG_RATES = {  # two classes: rates, the error, and what it says
    "a list": (([[0, 1], [1, 0]],), TypeError, r"region: expected a torch\.Tensor, got list"),
    "flags": ((ONES > 0,), TypeError, r"region: expected rates, numbers >= 0, got torch\.bool"),
    "negative": ((pulls(-1.0, 1.0),), ValueError, r"region: expected finite rates >= 0, got .*-1"),
    "NaN": ((pulls(torch.nan, 1.0),), ValueError, "region: expected finite rates >= 0, got .*nan"),
    "infinite": ((pulls(torch.inf, 1.0),), ValueError, "region: expected finite rates >= 0"),
    "no pull": ((pulls(0.0, 0.0),), ValueError, "region: expected positive rates between all"),
    "ce list": (
        (ONES, [1.0, 1.0]),
        TypeError,
        r"cross_entropy: .*torch\.Tensor, got list",
    ),
    "ce shape": (
        (ONES, torch.ones(3)),
        ValueError,
        r"cross_entropy: .* \(1, 2\), got \(1, 3\)",
    ),
    "ce negative": (
        (ONES, -torch.ones(2)),
        ValueError,
        "cross_entropy: .*finite rates >= 0",
    ),
    "decline": ((ONES, None, -1.0), ValueError, "decline: expected a number > 0, or None.*got -1"),
    "flag": ((ONES, None, True), TypeError, "decline: expected a number > 0, or None.*got True"),
    "text": ((ONES, None, "20"), TypeError, "decline: expected a number > 0, or None.*got '20'"),
}


@pytest.mark.parametrize("rates", WRONG_RATES)
def test_rates_that_are_none(rates):
    given, error, says = WRONG_RATES[rates]
    with pytest.raises(error, match=says):
        posterior_from_equilibrium(torch.full((1, 2, 3), 0.5), *given)


def test_classes_in_two_camps_are_in_no_balance():
    rates = torch.block_diag(torch.ones(2, 2), torch.ones(2, 2))
    with pytest.raises(ValueError, match="region: expected positive rates between all labels"):
        posterior_from_equilibrium(torch.full((1, 4, 1), 0.25), rates)
    joined = posterior_from_equilibrium(torch.full((1, 4, 1), 0.25), rates, torch.ones(4))
    torch.testing.assert_close(joined, torch.full((1, 4, 1), 0.25))


def test_one_of_two_classes_may_be_out_of_the_question_but_none_of_three():
    p = torch.full((1, 2, 1), 0.5)
    found = posterior_from_equilibrium(p, pulls(0.0, 3.0)).flatten()
    torch.testing.assert_close(found, torch.tensor([1.0, 0.0]))
    rates = torch.tensor([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0]])  # none towards 2
    with pytest.raises(ValueError, match="region: expected positive rates between all labels"):
        posterior_from_equilibrium(torch.full((1, 3, 1), 1 / 3), rates)


def test_cross_entropy_alone_leaves_nothing_to_correct():
    p = torch.tensor([[[0.7], [0.3]]])
    found = posterior_from_equilibrium(p, torch.zeros(2, 2), torch.ones(2), 20.0)
    torch.testing.assert_close(found, p)


@pytest.mark.parametrize("shape", [(1, 2, 2), (1, 3, 3), (2, 2, 2)])
def test_certain_voxels_stay_certain_with_a_decline_and_no_cross_entropy(shape):
    """A pure surgery loss reports zeros for cross-entropy; the decline is 0 at p = 0 and 1."""
    channels = shape[0] if shape[0] > 1 else shape[1]
    p = torch.zeros(1, channels, 1)
    p[0, 0] = 1.0
    region = torch.rand(shape, generator=torch.Generator().manual_seed(0)) + 0.1
    found = posterior_from_equilibrium(p, region, torch.zeros(shape[:2]), 20.0)
    torch.testing.assert_close(found, p)
