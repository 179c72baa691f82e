"""Boxes beyond the border, against a padded copy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradsurge.data.store.boxes import check_box, read_padded

FAR = 12


@given(st.data())
def test_any_box_equals_that_of_a_widely_padded_array(data):
    axes = data.draw(st.integers(1, 3))
    leading = data.draw(st.sampled_from([(), (2,)]))
    shape = tuple(data.draw(st.integers(1, 6)) for _ in range(axes))
    array = 1 + np.arange(np.prod((*leading, *shape)), dtype=np.float32).reshape(*leading, *shape)
    starts = [data.draw(st.integers(-FAR, FAR - 1)) for _ in range(axes)]
    box = tuple((a, data.draw(st.integers(a + 1, FAR))) for a in starts)
    width = [(0, 0)] * len(leading) + [(FAR, FAR)] * axes
    wide = np.pad(array, width, constant_values=-7)
    expected = wide[(..., *(slice(a + FAR, b + FAR) for a, b in box))]
    found = read_padded(lambda slices: array[(..., *slices)], box, shape, -7)
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("box", "words"),
    [
        ([(0, 2)], "each of 2 axes, got 1"),
        ([(0, 2), (3, 3)], r"start < stop .* got \(\(0, 2\), \(3, 3\)\)"),
        ([(0, 2), (3, 1)], "start < stop"),
    ],
)
def test_a_box_that_is_none(box, words):
    with pytest.raises(ValueError, match=words):
        check_box(box, (5, 5))
