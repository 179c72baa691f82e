"""Random rotation and scaling."""

import math

import numpy as np
import pytest
from batchgeneratorsv2.transforms.spatial.spatial import (
    create_affine_matrix_2d,
    create_affine_matrix_3d,
)
from scipy.spatial.transform import Rotation

from gradsurge.data.augmentation.affine import AffineChances, draw_affine, turn

ALWAYS = AffineChances(1.0, 30.0, 1.0, (0.7, 1.4))
PLANES = [(1, 2), (2, 0), (0, 1)]


def test_turns_about_the_axes_are_scipys():
    for axis, plane in enumerate(PLANES):
        vector = np.zeros(3)
        vector[axis] = 0.4
        np.testing.assert_allclose(
            turn(3, plane, 0.4), Rotation.from_rotvec(vector).as_matrix(), atol=1e-12
        )


def test_a_drawn_matrix_is_the_one_of_batchgeneratorsv2():
    drawn = draw_affine(ALWAYS, 3, np.random.default_rng(5))
    rng = np.random.default_rng(5)
    rng.random(2)
    angles = [rng.uniform(-math.pi / 6, math.pi / 6) for _ in range(3)]
    theirs = create_affine_matrix_3d(angles, [rng.uniform(0.7, 1.4)] * 3)
    np.testing.assert_allclose(drawn, theirs, atol=1e-12)


def test_the_same_in_two_dimensions():
    drawn = draw_affine(ALWAYS, 2, np.random.default_rng(6))
    rng = np.random.default_rng(6)
    rng.random(2)
    angle = rng.uniform(-math.pi / 6, math.pi / 6)
    theirs = create_affine_matrix_2d(angle, [rng.uniform(0.7, 1.4)] * 2)
    np.testing.assert_allclose(drawn, theirs, atol=1e-12)


def test_rotation_and_scaling_come_as_often_as_asked():
    chances = AffineChances(0.2, 30.0, 0.3, (0.7, 1.4))
    rng = np.random.default_rng(0)
    drawn = [draw_affine(chances, 3, rng) for _ in range(20_000)]
    scales = np.array([1.0 if a is None else np.linalg.det(a) ** (1 / 3) for a in drawn])
    turned = [a is not None and not np.allclose(a, np.diag(np.diag(a)), atol=1e-9) for a in drawn]
    sigma = math.sqrt(0.25 / 20_000)
    assert np.mean(np.abs(scales - 1) > 1e-9) == pytest.approx(0.3, abs=4 * sigma)
    assert np.mean(turned) == pytest.approx(0.2, abs=4 * sigma)
    assert np.mean([a is None for a in drawn]) == pytest.approx(0.8 * 0.7, abs=4 * sigma)
    assert 0.7 <= scales.min() < 0.72
    assert 1.38 < scales.max() <= 1.4


def test_angles_stay_within_the_range_and_reach_it():
    chances = AffineChances(1.0, 30.0, 0.0, (1.0, 1.0))
    rng = np.random.default_rng(0)
    drawn = [draw_affine(chances, 2, rng) for _ in range(2000)]
    angles = np.degrees([math.atan2(a[1, 0], a[0, 0]) for a in drawn])
    assert -30 <= angles.min() < -29.5
    assert 29.5 < angles.max() <= 30


@pytest.mark.parametrize("flat", [0, 1, 2])
def test_a_flat_axis_is_left_alone(flat):
    chances = AffineChances(1.0, 180.0, 1.0, (0.7, 1.4), flat)
    matrix = draw_affine(chances, 3, np.random.default_rng(1))
    unit = np.eye(3)[flat]
    np.testing.assert_array_equal(matrix[flat], unit)
    np.testing.assert_array_equal(matrix[:, flat], unit)
    assert not np.allclose(matrix, np.eye(3))
