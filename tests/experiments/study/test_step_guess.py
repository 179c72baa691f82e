"""The arithmetic of a step, and the time that is guessed of it."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from gradsurge.experiments.recipes import read_recipe
from gradsurge.experiments.recipes.recipe_network import plan_recipe_network
from gradsurge.experiments.study.step_guess import guessed_pace, step_operations
from gradsurge.models import make_model

QUICK = {"preset": "quick", "patch": (32, 32), "model_options": {"features": 4, "cap": 8}}


def test_operations_grow_with_the_batch_and_with_accumulated_ones():
    one = step_operations({**QUICK, "patches": {"batch": 1}}, 2)
    assert step_operations({**QUICK, "patches": {"batch": 3}}, 2) == 3 * one
    both = {**QUICK, "patches": {"batch": 3}, "training": {"accumulate": 2}}
    assert step_operations(both, 2) == 6 * one


def test_forward_and_backward_are_about_three_times_forward():
    network = make_model(plan_recipe_network(QUICK, 2))
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        network(torch.zeros(1, 1, 32, 32))
    whole = step_operations({**QUICK, "patches": {"batch": 1}}, 2)
    # Backward to the weights and to the inputs, of which the image needs none.
    assert 2.5 < whole / counter.get_total_flops() < 3.0


def test_recipes_differ_by_their_patches():
    kits, brats = (guessed_pace(read_recipe(name)) for name in ("kits", "brats-mets"))
    assert kits.seconds / brats.seconds == pytest.approx((96 * 96 * 80) / (80 * 96 * 80), rel=1e-6)
    assert kits.source.startswith("a guess for one GPU: 2e+12 operations a step")


@pytest.mark.parametrize(("name", "measured"), [("hippocampus", 0.14), ("chase", 0.16)])
def test_guesses_for_two_cores_are_of_the_right_order(name, measured):
    pace = guessed_pace(read_recipe(name))  # measured: records in docs/results, seconds a step
    assert measured / 4 < pace.seconds < 4 * measured
    assert "two cores" in pace.source
