"""Hard masks against plain loops."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gradsurge.experiments.runs import Task, hard_masks

THREE = Task(("a", "b"), "softmax", 3, (), None)
REGIONS = Task(("whole", "core"), "sigmoid", 2, ((1, 2), (2,)), None)
shares = st.lists(st.floats(0.01, 1), min_size=3, max_size=3)


@settings(max_examples=50)
@given(shares, st.tuples(st.floats(0.05, 0.95), st.floats(0.05, 0.95)))
def test_exclusive_classes_by_their_thresholds(weights, thresholds):
    p = [w / sum(weights) for w in weights]
    expected = [False, False]
    ratios = [p[1] / thresholds[0], p[2] / thresholds[1]]
    if max(ratios) > 1 + 1e-9:
        expected[ratios.index(max(ratios))] = True
    found = hard_masks(THREE, torch.tensor(p, dtype=torch.float64)[:, None], thresholds)
    if abs(max(ratios) - 1) > 1e-6 and abs(ratios[0] - ratios[1]) > 1e-6:
        assert found[:, 0].tolist() == expected


def test_without_thresholds_the_likeliest_class_wins():
    p = torch.rand(3, 7, 5).softmax(0)
    winner = p.argmax(0)
    assert torch.equal(hard_masks(THREE, p, None), torch.stack((winner == 1, winner == 2)))


def test_regions_are_independent():
    p = torch.tensor([[0.6, 0.4], [0.6, 0.2]])
    assert hard_masks(REGIONS, p, None).tolist() == [[True, False], [True, False]]
    assert hard_masks(REGIONS, p, (0.3, 0.7)).tolist() == [[True, True], [False, False]]


def test_as_many_thresholds_as_classes_are_needed():
    with pytest.raises(ValueError, match="thresholds: expected one for each of whole, core"):
        hard_masks(REGIONS, torch.rand(2, 4), (0.5,))
