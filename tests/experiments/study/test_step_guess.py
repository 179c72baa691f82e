"""The arithmetic of a step, against what convolutions take by hand."""

import pytest

from gradsurge.experiments.recipes import read_recipe
from gradsurge.experiments.study.step_guess import guessed_pace, step_operations

QUICK = {"preset": "quick", "patch": (32, 32), "model_options": {"features": 4, "cap": 8}}


def test_operations_grow_with_the_batch_and_with_accumulated_ones():
    one = step_operations({**QUICK, "patches": {"batch": 1}}, 2)
    assert step_operations({**QUICK, "patches": {"batch": 3}}, 2) == 3 * one
    both = {**QUICK, "patches": {"batch": 3}, "training": {"accumulate": 2}}
    assert step_operations(both, 2) == 6 * one


def test_operations_are_at_least_those_of_the_first_block():
    # Forward, and backward to weights and inputs: three times two operations a product; the first
    # block has a convolution of 1 to 4 and one of 4 to 4 channels on every pixel, 9 places each.
    least = 2 * 32 * 32 * 9 * (4 + 16)
    assert step_operations({**QUICK, "patches": {"batch": 1}}, 2) > 2 * least


def test_recipes_differ_by_their_patches():
    kits, brats = (guessed_pace(read_recipe(name)) for name in ("kits", "brats-mets"))
    assert kits.seconds / brats.seconds == pytest.approx((96 * 96 * 80) / (80 * 96 * 80), rel=1e-6)
    assert kits.source.startswith("a guess for one GPU: 2e+12 operations a step")


@pytest.mark.parametrize(("name", "measured"), [("hippocampus", 0.14), ("chase", 0.16)])
def test_guesses_for_two_cores_are_of_the_right_order(name, measured):
    pace = guessed_pace(read_recipe(name))  # measured: records in docs/results, seconds a step
    assert measured / 4 < pace.seconds < 4 * measured
    assert "two cores" in pace.source
