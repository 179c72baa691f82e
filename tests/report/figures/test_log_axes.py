"""Axes become logarithmic where values span much; as many numbers as fit are written out."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from gradsurge.report.figures.log_axes import log_if_wide


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ((0.014, 0.062), ["0.015", "0.02", "0.03", "0.05"]),
        ((0.0015, 0.06), ["0.002", "0.005", "0.01", "0.02", "0.05"]),
        ((0.0004, 0.05), ["0.001", "0.003", "0.01", "0.03"]),
        ((2e-5, 2e-1), ["0.0001", "0.001", "0.01", "0.1"]),
    ],
)
def test_numbers_written_out(values, labels):
    axis = Figure().subplots()
    assert log_if_wide([axis], np.array(values), "x", factor=4)
    low, high = values
    axis.set_xlim(low, high)
    shown = [text for text in axis.get_xticklabels() if low <= text.get_position()[0] <= high]
    assert [text.get_text() for text in shown] == labels


@pytest.mark.parametrize("values", [(0.07, 0.17), (0.0, 1.0), (-1.0, 10.0), (np.nan, np.nan)])
def test_others_stay_as_they_are(values):
    axis = Figure().subplots()
    assert not log_if_wide([axis], np.array(values), "y")
    assert axis.get_yscale() == "linear"
