"""Grids, soft steps, ellipsoids: closed forms."""

import numpy as np
import pytest

from gradsurge.data.phantoms.draws import Draws
from gradsurge.data.phantoms.grid import Grid, grid_of
from gradsurge.data.phantoms.shapes import (
    ellipsoid_depth,
    mean_radius,
    random_proportions,
    random_rotation,
    rise,
    unite,
)

WHOLE = (slice(None),) * 3


def test_rise_has_exact_ends_is_odd_about_a_half_and_monotone():
    x = np.linspace(-2, 2, 401)
    y = rise(x)
    assert (y[x <= -1] == 0).all()
    assert (y[x >= 1] == 1).all()
    np.testing.assert_allclose(y + y[::-1], 1.0, atol=1e-12)
    assert (np.diff(y) >= 0).all()
    second = np.diff(y, 2) / 0.01**2
    assert np.abs(np.diff(second)).max() < 0.2  # a kink in the slope would jump by more


@pytest.mark.parametrize("dimensions", [2, 3])
def test_rotations_keep_lengths_and_hands(dimensions):
    rotation = random_rotation(Draws("turn"), dimensions)
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(dimensions), atol=1e-12)
    assert np.linalg.det(rotation) == pytest.approx(1)


def test_a_ball_has_its_distance_as_depth():
    grid = Grid((9, 10, 11), (1.0, 0.5, 2.0))
    centre = np.array([0.5, -0.25, 1.0])
    rotation = random_rotation(Draws("ball"), 3)
    depth = ellipsoid_depth(grid, WHOLE, centre, np.full(3, 2.5), rotation)
    points = np.stack(np.meshgrid(*grid.axes, indexing="ij"), axis=-1)
    np.testing.assert_allclose(depth, 2.5 - np.linalg.norm(points - centre, axis=-1), atol=1e-12)


def test_an_ellipsoid_has_its_volume():
    grid = Grid((60, 60, 60), (1.0, 1.0, 1.0))
    half_axes = 12 * random_proportions(Draws("proportions"), 3, 1.8)
    assert mean_radius(half_axes) == pytest.approx(12)
    assert half_axes.max() / half_axes.min() <= 1.8
    rotation = random_rotation(Draws("turn"), 3)
    depth = ellipsoid_depth(grid, WHOLE, np.zeros(3), half_axes, rotation)
    assert (depth > 0).sum() == pytest.approx(4 / 3 * np.pi * 12**3, rel=0.01)


def test_a_window_holds_what_is_near_and_nothing_else():
    grid = Grid((20, 30), (1.0, 0.7))
    centre = np.array([8.0, -3.1])
    window = grid.window(centre, 4.0)
    near = np.zeros(grid.size, np.bool_)
    near[window] = True
    rows, columns = (np.abs(axis - x) <= 4.0 for axis, x in zip(grid.axes, centre, strict=True))
    assert (near == rows[:, None] & columns).all()


def test_union_is_that_of_independent_chances():
    mask = np.array([0.0, 0.5, 1.0])
    unite(mask, (slice(1, 3),), np.array([0.5, 0.3]))
    np.testing.assert_allclose(mask, [0.0, 0.75, 1.0])


def test_grids_hold_the_same_amount_of_tissue():
    default = Grid((48, 48, 32), (1.0, 1.0, 1.5))
    other = grid_of((17, 93, 40), default)
    assert other.volume == pytest.approx(default.volume)
    assert other.spacing[2] / other.spacing[0] == pytest.approx(1.5)
    assert grid_of(default.size, default) == default
