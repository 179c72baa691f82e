import itertools
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from monai.data.utils import compute_importance_map

from gradsurge.training.inference.gaussian_weights import gaussian_weights
from gradsurge.training.inference.window_places import window_places, window_starts


@given(st.integers(1, 300), st.integers(1, 80), st.sampled_from([0.0, 0.25, 0.5, 0.9]))
def test_windows_reach_everything_with_the_overlap_asked_for(size, window, overlap):
    size = max(size, window)
    starts = window_starts(size, window, overlap)
    step = max(1.0, window * (1 - overlap))
    assert len(starts) == math.ceil((size - window) / step) + 1
    assert starts[0] == 0
    assert starts[-1] == size - window
    gaps = [b - a for a, b in itertools.pairwise(starts)]
    assert all(0 < gap <= math.ceil(step) for gap in gaps)
    assert not gaps or max(gaps) - min(gaps) <= 1


def test_places_rise_along_the_first_axis():
    places = list(window_places((9, 9, 4), (4, 4, 4), 0.5))
    assert places == sorted(places)
    assert len(places) == 16


@pytest.mark.parametrize("window", [(8, 8), (5, 12), (16, 8, 6), (32, 32, 32)])
@pytest.mark.parametrize("sigma", [0.125, 0.3])
def test_weights_are_monais(window, sigma):
    expected = compute_importance_map(window, "gaussian", sigma)
    torch.testing.assert_close(gaussian_weights(window, sigma), expected, rtol=1e-5, atol=1e-7)
