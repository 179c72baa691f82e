"""Smooth fields: variance exactly 1 at every voxel, corners included."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import fourier_gaussian

from gradsurge.data.phantoms.draws import Draws
from gradsurge.data.phantoms.fields import smooth_field


class Impulse:
    """White noise whose only value is one 1: the field is then a column of the filter."""

    def __init__(self, at):
        self.at = at

    def normals(self, *shape):
        noise = np.zeros(shape)
        noise.flat[self.at] = 1.0
        return noise


def variance(size, sigma):
    columns = [smooth_field(Impulse(at), size, sigma) for at in range(np.prod(size))]
    return np.sum(np.square(columns), axis=0)


axis = st.tuples(st.integers(1, 7), st.floats(0, 20))


@settings(max_examples=40, deadline=None)
@given(axes=st.lists(axis, min_size=1, max_size=3))
def test_variance_is_exactly_one_everywhere(axes):
    size, sigma = zip(*axes, strict=True)
    np.testing.assert_allclose(variance(size, sigma), 1.0, rtol=1e-12)


@pytest.mark.parametrize(("size", "sigma"), [((24, 31), (1.5, 2.0)), ((16, 15, 18), (2, 1, 1.5))])
def test_shape_is_that_of_scipys_gaussian_on_a_torus(size, sigma):
    field = smooth_field(Draws("field"), size, sigma)
    noise = np.fft.fftn(Draws("field").normals(*size))
    filtered = np.fft.ifftn(fourier_gaussian(noise, sigma)).real
    np.testing.assert_allclose(field / field.std(), filtered / filtered.std(), atol=1e-12)


def test_sigma_0_leaves_the_noise_white():
    np.testing.assert_allclose(
        smooth_field(Draws("w"), (5, 6), (0, 0)), Draws("w").normals(5, 6), atol=1e-12
    )
