"""Arrows begin outside of the structure and inside of the panel."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradsurge.experiments.figure_data.confident_errors import Mark
from gradsurge.experiments.figure_data.windows import Window
from gradsurge.report.figures.arrow_field import LENGTH, ArrowField

LABEL = np.zeros((60, 80), np.bool_)
LABEL[20:40, 30:50] = True
WINDOW = Window(0, 60, 0, 80)


@pytest.mark.parametrize(
    ("mark", "way"),
    [
        (Mark(29.5, 55.0, True), (1, 0)),
        (Mark(29.5, 20.0, True), (-1, 0)),
        (Mark(15.0, 39.5, True), (0, 1)),  # above: points go up
        (Mark(45.0, 39.5, True), (0, -1)),
    ],
)
def test_they_point_to_the_structure(mark, way):
    start = ArrowField(LABEL, WINDOW, 1.0, 120.0).start(mark)
    np.testing.assert_allclose(start, LENGTH * np.array(way), atol=1e-9)


@given(st.floats(0, 60), st.floats(0, 80), st.sampled_from([0.5, 1.0, 2.0]))
def test_they_never_leave_the_panel(row, column, aspect):
    field = ArrowField(LABEL, WINDOW, aspect, 160.0)  # two points a column
    x, y = field.start(Mark(row, column, True))
    assert np.hypot(x, y) == pytest.approx(LENGTH)
    assert 0 <= column + x / 2 <= 80
    assert 0 <= row - y / 2 / aspect <= 60


def test_without_a_structure_they_come_from_the_side_of_the_mark():
    nothing = np.zeros_like(LABEL)
    x, y = ArrowField(nothing, WINDOW, 1.0, 120.0).start(Mark(30.0, 60.0, False))
    assert (x, y) == pytest.approx((LENGTH, 0.0))
