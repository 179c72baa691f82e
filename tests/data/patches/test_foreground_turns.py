"""How many patches of a batch must hold foreground."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradsurge.data.patches import PatchSettings, foreground_number, is_foreground_turn


def settings(batch, share):
    return PatchSettings((8, 8), batch=batch, oversample=share)


@given(st.integers(1, 64), st.floats(0, 1), st.integers(0, 10**6))
def test_every_batch_has_the_whole_number_below_or_above(batch, share, step):
    number = foreground_number(settings(batch, share), step)
    assert math.floor(batch * share) <= number <= math.ceil(batch * share)
    turns = [is_foreground_turn(settings(batch, share), step, k) for k in range(batch)]
    assert sum(turns) == number


@pytest.mark.parametrize(("batch", "share"), [(4, 0.33), (8, 0.45), (3, 0.5), (1, 0.33), (5, 1.0)])
def test_the_share_is_exact_in_the_long_run(batch, share):
    steps = 10_000
    numbers = [foreground_number(settings(batch, share), step) for step in range(steps)]
    assert sum(numbers) == pytest.approx(steps * batch * share, abs=1)


def test_a_batch_of_two_has_one_as_in_nnunet():
    assert {foreground_number(settings(2, 0.33), step) for step in range(100)} == {1}


def test_none_are_asked_for_with_a_share_of_zero():
    assert not any(is_foreground_turn(settings(4, 0.0), s, k) for s in range(50) for k in range(4))


def test_turns_are_spread_over_the_batch():
    """With several patches a case they would else all fall on the last case."""
    turns = [is_foreground_turn(settings(16, 0.5), 0, k) for k in range(16)]
    assert sum(turns[:8]) == sum(turns[8:]) == 4
