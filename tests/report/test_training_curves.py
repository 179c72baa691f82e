"""What the curves of a training show."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gradsurge.report.figures.training_curves import smoothed


@given(st.lists(st.floats(-10, 10), min_size=1, max_size=400))
def test_smoothing_keeps_the_range_and_few_points(values):
    steps = np.arange(1.0, len(values) + 1)
    line = smoothed(steps, np.array(values))
    assert len(line.steps) == len(line.values) == min(len(values), 50)
    assert line.values.min() >= min(values) - 1e-9
    assert line.values.max() <= max(values) + 1e-9
    assert (np.diff(line.steps) > 0).all()


def test_what_is_not_finite_is_left_out():
    line = smoothed(np.arange(3.0), np.array([1.0, np.nan, 3.0]))
    assert line.values.tolist() == [1.0, 3.0]
    assert smoothed(np.array([]), np.array([])).steps.size == 0
