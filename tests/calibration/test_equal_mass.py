"""Equal-mass ECE against sorting and cutting."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradsurge.calibration import CalibrationSketch
from gradsurge.calibration.equal_mass import equal_mass_ece
from tests.calibration import definitions
from tests.calibration.definitions import hard_pairs, segmentation


def found_and_sorted(p, y, bins):
    found = CalibrationSketch().update_probabilities(p, y).equal_mass_ece(bins)
    return found, definitions.equal_mass_ece(p, y, bins)


@settings(max_examples=200, deadline=None)
@given(pairs=hard_pairs(), bins=st.integers(1, 20))
def test_the_truth_is_within_the_bound(pairs, bins):
    found, truth = found_and_sorted(*pairs, bins)
    # Sorting cuts between pairs, the sketch at N/bins exactly: a pair a border at most, either way.
    whole = 0 if pairs[0].size % bins == 0 else 2 * (bins - 1) / pairs[0].size
    assert abs(found - truth) <= found.error + whole + 1e-12


@pytest.mark.parametrize("bins", [10, 15, 20])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_bound_is_small_on_what_a_network_gives(bins, dtype):
    found, truth = found_and_sorted(*segmentation(60_000, dtype=dtype), bins)
    assert abs(found - truth) <= found.error < 2e-3
    assert abs(found - truth) < 2e-4


def test_one_bin_is_the_mean():
    p, y = segmentation(2000)
    found, truth = found_and_sorted(p, y, 1)
    assert truth == pytest.approx(abs(p.astype(float).mean() - y.mean()))
    assert abs(found - truth) <= found.error < 1e-4


def test_a_border_divides_a_pair():
    sketch = CalibrationSketch().update_probabilities(np.array([0.2, 0.9]), [0, 1])
    # 15 bins of 2/15 pairs: seven of 0.2 against 0, one of half a pair each, seven of 0.9.
    expected = (14 / 15 * 0.2 + abs(0.2 - 0.1) / 15 + 14 / 15 * 0.1) / 2
    assert sketch.equal_mass_ece(15) == pytest.approx(expected, abs=1e-12)


def test_bad_and_empty():
    empty = CalibrationSketch()
    assert math.isnan(empty.equal_mass_ece())
    with pytest.raises(ValueError, match="bins: expected at least 1, got 0"):
        equal_mass_ece(empty.lens(), 0)
