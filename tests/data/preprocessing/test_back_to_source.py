"""There and back: turning and cropping exactly, resampling within the smoothness of the field."""

import itertools
import json
import tracemalloc

import nibabel
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradsurge.data import CaseError, Volume
from gradsurge.data.grid import Grid
from gradsurge.data.preprocessing import (
    at_spacing,
    back_to_source,
    cropped,
    image_onto_grid,
    native_grid,
    prepared_spacing,
    resized,
    slab_to_source,
    to_source,
    turn_to_ras,
    turned,
    turned_back,
)

RNG = np.random.default_rng(0)
AFFINES = [
    np.array(
        nibabel.orientations.inv_ornt_aff(
            np.array([(axis, flip) for axis, flip in zip(axes, flips, strict=True)]), (5, 6, 7)
        )
    )
    @ np.diag([1.5, 2.0, 3.0, 1.0])
    for axes in itertools.permutations(range(3))
    for flips in itertools.product((1, -1), repeat=3)
]


def volume(array, affine):
    spacing = tuple(np.linalg.norm(affine[:3, :3], axis=0))
    return Volume(array, spacing, affine, "scan.nii.gz")


def smooth(shape):
    """Two probabilities that vary slowly along every axis."""
    axes = np.meshgrid(*(np.linspace(0, 1, n) for n in shape), indexing="ij")
    p = 0.5 + 0.4 * np.prod([np.cos(2.0 * a + i) for i, a in enumerate(axes)], axis=0)
    return np.stack([1 - p, p]).astype(np.float32)


@pytest.mark.parametrize("affine", AFFINES)
def test_turning_is_nibabels_and_comes_back_exactly(affine):
    array = RNG.normal(size=(5, 6, 7)).astype(np.float32)
    grid = native_grid(volume(array, affine))
    ours = image_onto_grid(array[None], grid)
    theirs = nibabel.as_closest_canonical(nibabel.Nifti1Image(array, affine))
    np.testing.assert_array_equal(ours[0], theirs.get_fdata(dtype=np.float32))
    assert prepared_spacing(grid) == pytest.approx(theirs.header.get_zooms())
    np.testing.assert_array_equal(to_source(ours, grid)[0], array)


@given(st.permutations(range(3)), st.tuples(*[st.booleans()] * 3))
def test_turned_back_undoes_turned(axes, flips):
    array = np.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5)
    np.testing.assert_array_equal(turned_back(turned(array, axes, flips), axes, flips), array)


def test_the_identity_is_exact():
    p = smooth((9, 8, 7))
    grid = native_grid(Volume(p[0], None, None, "a.npy"))
    np.testing.assert_array_equal(to_source(p, grid), p)


@pytest.mark.parametrize("affine", AFFINES[5::11])
@pytest.mark.parametrize("spacing", [(1.0, 1.0, 1.0), (2.5, 1.2, 4.0)])
def test_a_smooth_field_comes_back(affine, spacing):
    p = smooth((32, 40, 24))
    source = volume(p[0], affine)
    grid = at_spacing(native_grid(source), spacing, source)
    there = image_onto_grid(p, grid)
    assert there.shape[1:] == grid.resampled_shape != p.shape[1:]
    back = to_source(there, grid)
    assert back.shape == p.shape
    assert np.abs(back - p).max() < 0.03
    np.testing.assert_allclose(back.sum(axis=0), 1.0, atol=1e-5)


@given(st.data())
def test_cropping_comes_back_exactly_with_background_outside(data):
    shape = data.draw(st.tuples(*[st.integers(1, 8)] * 3))
    crop = tuple(
        (a, a + data.draw(st.integers(1, 9)))
        for a in (data.draw(st.integers(-3, n + 2)) for n in shape)
    )
    p = RNG.random((3, *shape), np.float32)
    grid = cropped(native_grid(Volume(p[0], None, None, "a.npy")), crop)
    back = to_source(image_onto_grid(p, grid), grid)
    inside = np.zeros(shape, bool)
    inside[tuple(slice(max(a, 0), max(b, 0)) for a, b in crop)] = True
    np.testing.assert_array_equal(back[:, inside], p[:, inside])
    assert (back[:, ~inside].T == [1, 0, 0]).all()


def test_resampled_and_cropped_probabilities_stay_probabilities():
    grid = cropped(
        resized(native_grid(Volume(np.zeros((20, 30)), None, None, "a.png")), (50, 13)),
        ((10, 41), (2, 9)),
    )
    p = RNG.random((3, 31, 7)).astype(np.float32)
    p /= p.sum(axis=0)
    back = to_source(p, grid)
    assert back.shape == (3, 20, 30)
    assert back.min() >= -1e-6
    np.testing.assert_allclose(back.sum(axis=0), 1.0, atol=1e-6)
    np.testing.assert_allclose(back[:, 0, 0], [1, 0, 0], atol=1e-6)


def test_what_lies_outside_can_be_told():
    grid = cropped(native_grid(Volume(np.zeros((4, 4)), None, None, "a.png")), ((0, 2), (0, 4)))
    ones = np.ones((2, 2, 4), np.float32)
    assert to_source(ones, grid, outside=(0.0, 0.0))[:, 3, 3].tolist() == [0.0, 0.0]
    assert to_source(ones[:1], grid)[0, 3, 3] == 0.0  # one channel is the foreground
    with pytest.raises(ValueError, match="outside: expected one value a channel, 2, got 3"):
        to_source(ones, grid, outside=(0, 0, 0))
    with pytest.raises(
        ValueError, match=r"probabilities: expected shape \('C', 2, 4\).*\(2, 4, 4\)"
    ):
        to_source(np.ones((2, 4, 4)), grid)


def test_grids_go_through_json():
    source = volume(np.zeros((5, 6, 7)), AFFINES[13])
    grid = cropped(at_spacing(native_grid(source), (1, 1, 1), source), ((0, 3), (-1, 4), (2, 5)))
    assert Grid.from_json(json.loads(json.dumps(grid.to_json()))) == grid


def test_headers_that_cannot_be():
    flat = np.diag([1.0, 1.0, 0.0, 1.0])
    assert turn_to_ras(flat) is None
    with pytest.raises(CaseError, match=r"scan\.nii\.gz: the affine does not say"):
        native_grid(Volume(np.zeros((3, 3, 3)), None, flat, "scan.nii.gz"))
    huge = volume(np.zeros((30, 30, 30)), np.diag([9e4, 1.0, 9e4, 1.0]))
    with pytest.raises(CaseError, match="mend the header"):
        at_spacing(native_grid(huge), (1, 1, 1), huge)


@given(st.data())
def test_slabs_are_the_whole(data):
    """Turned, resampled and cropped: however few rows at a time, the same."""
    axes = tuple(data.draw(st.permutations(range(3))))
    flips = data.draw(st.tuples(*[st.booleans()] * 3))
    shape, new = (data.draw(st.tuples(*[st.integers(2, 9)] * 3)) for _ in range(2))
    crop = tuple(
        (a, a + data.draw(st.integers(1, 9))) for a in (data.draw(st.integers(-3, n)) for n in new)
    )
    source = tuple(shape[axes.index(a)] for a in range(3))
    grid = Grid(source, (1.0,) * 3, None, axes, flips, new, crop)
    p = RNG.random([stop - start for start, stop in crop]).astype(np.float32)
    whole = slab_to_source(p, grid, slice(0, shape[0]), 1.0)
    rows = [slab_to_source(p, grid, slice(r, r + 1), 1.0) for r in range(shape[0])]
    np.testing.assert_allclose(np.concatenate(rows), whole, atol=1e-6)
    np.testing.assert_array_equal(
        to_source(p[None], grid, [1.0])[0], turned_back(whole, axes, flips)
    )


def test_little_beside_the_result_is_held(monkeypatch):
    monkeypatch.setattr(back_to_source, "_VOXELS", 1 << 12)
    grid = cropped(
        resized(native_grid(Volume(np.zeros((64, 64, 64)), None, None, "a.npy")), (60, 70, 66)),
        ((0, 60), (5, 65), (0, 66)),
    )
    p = RNG.random((1, 60, 60, 66)).astype(np.float32)
    to_source(p, grid, [1.0])  # the matrices, which are kept
    tracemalloc.start()
    try:
        size = to_source(p, grid, [1.0]).nbytes
        assert tracemalloc.get_traced_memory()[1] < 1.3 * size
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("noise", [-1e-7, 0.0, 1e-7])
def test_noise_of_a_header_does_not_decide_the_shape(noise):
    """5 voxels of 0.9 mm at 1 mm are 4.5, which Python rounds to 4."""
    source = volume(np.zeros((5, 5, 5)), np.diag([0.9 + noise, 0.9 - noise, 0.9, 1.0]))
    assert at_spacing(native_grid(source), (1, 1, 1), source).resampled_shape == (4, 4, 4)
