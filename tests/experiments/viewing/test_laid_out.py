"""Layouts against nibabel's canonical orientation, and against indices counted by hand."""

import itertools

import nibabel
import numpy as np
import pytest

from gradsurge.experiments.viewing.laid_out import lay_out

SHAPE = (4, 5, 6)
TURNS = [
    (axes, flips)
    for axes in itertools.permutations(range(3))
    for flips in itertools.product((1, -1), repeat=3)
]


def turned_affine(axes, flips):
    affine = np.eye(4)
    affine[:3, :3] = np.diag([1.0, 2.0, 3.0])[:, list(axes)] * flips
    affine[:3, 3] = (5.5, -7.25, 11.0)
    return affine


@pytest.mark.parametrize(("axes", "flips"), TURNS)
def test_volumes_lie_as_nibabel_lays_them(axes, flips):
    affine = turned_affine(axes, flips)
    array = np.arange(np.prod(SHAPE)).reshape(SHAPE)
    layout = lay_out(SHAPE, affine)
    expected = nibabel.as_closest_canonical(nibabel.Nifti1Image(array.astype(np.int32), affine))
    assert np.array_equal(layout.lay(array), np.asarray(expected.dataobj))
    assert np.allclose(layout.affine, expected.affine)
    assert layout.sizes == pytest.approx((1.0, 2.0, 3.0))
    assert layout.voxel_volume == pytest.approx(6.0)


def test_oblique_volumes_keep_their_voxels():
    angle = 0.4
    affine = np.eye(4)
    affine[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    layout = lay_out(SHAPE, affine)
    array = np.random.default_rng(0).random(SHAPE)
    assert np.array_equal(layout.lay(array), array)
    assert layout.sizes == pytest.approx((1.0, 1.0, 1.0))


def test_the_first_row_of_a_picture_is_on_top():
    picture = np.arange(12).reshape(3, 4)
    laid = lay_out((3, 4), None).lay(picture)
    assert laid.shape == (4, 3, 1)
    for row, column in itertools.product(range(3), range(4)):
        assert laid[column, 2 - row, 0] == picture[row, column]  # y points up


def test_stacks_of_pictures_have_pages_upwards():
    stack = np.arange(24).reshape(2, 3, 4)
    laid = lay_out((2, 3, 4), None).lay(stack)
    assert laid[1, 2, 1] == stack[1, 0, 1]


def test_long_axes_are_thinned_out_and_places_stay_true():
    affine = turned_affine((0, 1, 2), (-1, 1, 1))
    layout = lay_out((9, 5, 6), affine, longest=4)
    assert (layout.steps, layout.shape) == ((3, 2, 2), (3, 3, 3))
    array = np.arange(270).reshape(9, 5, 6)
    laid = layout.lay(array)
    for voxel in itertools.product(range(3), repeat=3):
        place = (layout.affine @ [*voxel, 1])[:3]
        source = np.rint(np.linalg.solve(affine[:3, :3], place - affine[:3, 3])).astype(int)
        assert laid[voxel] == array[tuple(source)]
    assert layout.voxel_volume == pytest.approx(6.0)  # of the source's voxels


def test_flat_and_singular_images_have_no_volume():
    assert lay_out((4, 5), np.eye(4), (2.0, 3.0)).voxel_volume is None
    assert lay_out((4, 5), np.eye(4), (2.0, 3.0)).sizes == (2.0, 3.0, 1.0)
    singular = lay_out(SHAPE, np.zeros((4, 4)))
    assert (singular.affine, singular.axes) == (None, (0, 1, 2))
    assert lay_out((4, 5, 1), np.eye(4)).flat


def test_other_arrays_are_refused():
    with pytest.raises(ValueError, match=r"expected two or three axes, got \(4,\)"):
        lay_out((4,), None)
    with pytest.raises(ValueError, match=r"expected shape \(3, 4\), got \(4, 3\)"):
        lay_out((3, 4), None).lay(np.zeros((4, 3)))
