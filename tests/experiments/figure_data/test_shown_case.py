"""What is shown of a case: the slice and the marks are where the confident errors are."""

import numpy as np
import pytest
import torch

from gradsurge.experiments.figure_data.shown_case import show_case
from tests.experiments.figure_data.tiny_runs import phantom_store


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return phantom_store(tmp_path_factory.mktemp("shown"), "vessels-2d", (96, 96), cases=3)


def errors_at(*boxes):
    errors = torch.zeros(96, 96)
    for top, left, size in boxes:
        errors[top : top + size, left : left + size] = 0.95
    return errors


def test_marks_lie_wholly_inside_of_the_window(store):
    case = store.cases[0]
    label = torch.zeros(96, 96, dtype=torch.bool)
    errors = errors_at((40, 40, 5), (50, 55, 4))
    shown = show_case(store, case, "vessel", errors, label, None)
    assert shown.window.shape == (32, 32)
    places = [(m.row, m.column) for m in shown.marks]
    assert places == [(42.0, 42.0), (51.5, 56.5)]
    np.testing.assert_array_equal(shown.image, store.case(case).read_image())  # colours
    lone = show_case(store, case, "vessel", errors_at((0, 0, 2)), label, None)
    assert [(m.row, m.column) for m in lone.marks] == [(0.5, 0.5)]  # at the edge, but the only one


def test_without_confident_errors_the_largest_ones_are_shown(store):
    errors = 0.5 * (errors_at((70, 10, 5)) > 0).float()
    label = torch.zeros(96, 96, dtype=torch.bool)
    shown = show_case(store, store.cases[0], "vessel", errors, label, None)
    assert shown.marks == ()
    assert shown.window.top <= 70 < 75 <= shown.window.bottom
