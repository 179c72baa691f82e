"""The box that a rotated and scaled patch reaches."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradsurge.data.augmentation.affine import AffineChances, draw_affine
from gradsurge.data.augmentation.reach import reached_box, sampling_grid

CHANCES = AffineChances(1.0, 180.0, 1.0, (0.5, 2.0))


def points(start, size, affine):
    """Return the points (n, axes) of the case that a patch's voxels show, by the definition."""
    voxels = np.stack(np.meshgrid(*(np.arange(n) for n in size), indexing="ij"), -1)
    half = (np.asarray(size) - 1) / 2
    return (voxels.reshape(-1, len(size)) - half) @ affine.T + half + np.asarray(start)


sizes = st.lists(st.integers(2, 9), min_size=2, max_size=3)


@given(sizes, st.integers(0, 10**6), st.integers(-20, 20))
def test_the_box_holds_every_neighbour_of_every_point(size, seed, shift):
    affine = draw_affine(CHANCES, len(size), np.random.default_rng(seed))
    start = [shift + i for i in range(len(size))]
    box = np.array(reached_box(start, size, affine))
    read = points(start, size, affine)
    assert (np.floor(read) >= box[:, 0]).all()
    assert (np.ceil(read) <= box[:, 1] - 1).all()
    slack = np.array([box[:, 0] - read.min(0), read.max(0) - (box[:, 1] - 1)])
    assert (slack > -1.01).all(), "the box is larger than needed"


@given(sizes, st.integers(0, 10**6))
def test_the_grid_points_there(size, seed):
    affine = draw_affine(CHANCES, len(size), np.random.default_rng(seed))
    start = [3, -4, 5][: len(size)]
    box = reached_box(start, size, affine)
    grid = sampling_grid(start, size, affine, box).numpy().reshape(-1, len(size))[:, ::-1]
    low, high = np.array(box).T
    found = (grid + 1) / 2 * (high - low) - 0.5 + low  # grid_sample's align_corners=False
    np.testing.assert_allclose(found, points(start, size, affine), atol=1e-4)


def test_without_a_matrix_the_box_is_the_patch():
    assert reached_box((-3, 4, 0), (5, 6, 7), None) == ((-3, 2), (4, 10), (0, 7))


@pytest.mark.parametrize("size", [(80, 96, 80), (96, 96, 80)])
def test_nothing_of_a_strong_rotation_and_scaling_is_missing(size):
    """nnU-Net's larger patch is too small for these, and fills with zeros."""
    wide = AffineChances(1.0, 30.0, 1.0, (1.4, 1.4))
    for seed in range(20):
        affine = draw_affine(wide, 3, np.random.default_rng(seed))
        box = np.array(reached_box((0, 0, 0), size, affine))
        half = (np.array(size) - 1) / 2
        corners = np.array(list(itertools.product((-1, 1), repeat=3))) * half
        there = corners @ affine.T + half
        assert (there >= box[:, 0]).all()
        assert (there <= box[:, 1] - 1).all()
