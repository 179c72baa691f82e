"""Which slice, which window, which marks: against searching every place."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gradsurge.experiments.figure_data.confident_errors import (
    CONFIDENT,
    choose_structure,
    find_marks,
    structure_errors,
)
from gradsurge.experiments.figure_data.slices import fullest_slice, numbered_slice
from gradsurge.experiments.figure_data.windows import fullest_window, marks_reach, whole
from gradsurge.experiments.runs import Task

ONE = Task(("lesion",), "softmax", 2, (), None)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_the_slice_is_across_the_thickest_voxels(axis):
    volume = np.arange(4 * 5 * 6.0).reshape(4, 5, 6) % 7
    spacing = [1.0, 1.0, 1.0]
    spacing[axis] = 3.0
    cut = fullest_slice(volume, spacing)
    sums = [np.take(volume, k, axis).sum() for k in range(volume.shape[axis])]
    assert (cut.axis, cut.at) == (axis, int(np.argmax(sums)))
    np.testing.assert_array_equal(cut.plane(volume), np.rot90(np.take(volume, cut.at, axis)))
    channels = np.stack((volume, -volume))
    np.testing.assert_array_equal(cut.plane(channels)[1], -cut.plane(volume))


def test_an_empty_volume_is_cut_in_the_middle():
    assert fullest_slice(np.zeros((4, 4, 9)), (1, 1, 1)).at == 4


def test_aspect_is_height_over_width_on_paper():
    assert numbered_slice(1, (4, 5, 6), (1.0, 2.0, 4.0)).aspect == 2.0
    picture = fullest_slice(np.zeros((4, 5)), (3.0, 1.5))
    assert (picture.axis, picture.aspect, picture.title) == (None, 2.0, "")
    with pytest.raises(ValueError, match="pictures"):
        numbered_slice(1, (4, 5), (1.0, 1.0))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(33, 60), st.integers(33, 60), st.sampled_from([1, 1.1]))
def test_no_window_holds_more(seed, height, width, aspect):
    rng = np.random.default_rng(seed)
    plane = np.zeros((height, width))
    at = rng.integers(0, (height, width), (3, 2))
    plane[at[:, 0], at[:, 1]] = 1.0
    window = fullest_window(plane, aspect)
    rows, columns = window.shape
    assert (rows, columns) == (round(32 / aspect), 32)
    sums = [
        plane[r : r + rows, c : c + columns].sum()
        for r in range(height - rows + 1)
        for c in range(width - columns + 1)
    ]
    assert window.cut(plane).sum() == max(sums)


def test_a_window_is_square_on_paper_and_inside_of_the_plane():
    plane = np.zeros((50, 300))
    plane[49, 299] = 1
    window = fullest_window(plane, 4.0)
    assert window.shape == (12, 50)  # a quarter of 200, the shorter side on paper
    assert (window.bottom, window.right) == (50, 300)
    assert fullest_window(np.zeros((10, 300)), 1.0).shape == (10, 32)
    assert whole(plane).shape == (50, 300)
    assert marks_reach(window, 4.0) == (1, 3)


def test_marks_stand_in_the_middle_of_blobs_the_largest_first():
    error, label = np.zeros((40, 40)), np.zeros((40, 40), np.bool_)
    error[5:8, 5:8] = 0.95  # invented
    error[30:34, 20:24] = 0.99  # missed
    label[29:36, 18:26] = True
    error[20, 20] = 1.0  # a single pixel is none
    error[12:16, 30:36] = 0.89  # not sure enough
    marks = find_marks(error, label, (3, 3))
    assert [(m.row, m.column, m.missed) for m in marks] == [(31.5, 21.5, True), (6.0, 6.0, False)]
    assert find_marks(error, label, (3, 3), most=1) == marks[:1]
    assert find_marks(np.zeros((5, 5)), np.zeros((5, 5), np.bool_), (1, 1)) == []


def test_errors_of_each_structure_and_none_where_nobody_knows():
    task = Task(("a", "b"), "softmax", 3, (), 3)
    label = torch.tensor([[0, 1, 2, 3]])
    p = torch.tensor([[[0.1, 0.3, 0.2, 0.9]], [[0.2, 0.05, 0.97, 0.9]]])
    errors = structure_errors(task, p, label)
    expected = [[[0.1, 0.7, 0.2, 0.0]], [[0.2, 0.05, 0.03, 0.0]]]
    torch.testing.assert_close(errors, torch.tensor(expected))


def test_the_structure_with_most_confident_errors_or_the_named_one():
    task = Task(("a", "b"), "softmax", 3, (), None)
    errors = torch.zeros(2, 4)
    errors[0, 0], errors[1, :2] = 1.0, CONFIDENT
    assert choose_structure(task, errors, None) == 1
    assert choose_structure(task, errors, "a") == 0
    with pytest.raises(ValueError, match="no 'c' here; there are: a, b"):
        choose_structure(task, errors, "c")
