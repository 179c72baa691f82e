"""The label's marginal is the stored posterior: exactly by counting, and in many draws."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtri

from gradsurge.data.phantoms.catalogue import PHANTOMS
from gradsurge.data.phantoms.draws import Draws
from gradsurge.data.phantoms.grid import Grid, grid_of
from gradsurge.data.phantoms.rater import (
    LEVELS,
    draw_label,
    posterior_of,
    thresholds_of,
    uniform_levels,
)

GRID = Grid((17, 12), (1.0, 1.5))
COHERENCE = 2.0
DRAWS = 6000
VOXELS = [(0, 0), (0, -1), (-1, 0), (-1, -1), (0, 6), (8, 6)]


@pytest.fixture(scope="module")
def fields():
    return np.array([uniform_levels(Draws("r", i), GRID, COHERENCE) for i in range(DRAWS)])


def test_over_all_levels_each_class_gets_exactly_its_posterior():
    posterior = np.array([[0.0, 1.0, 0.1, 1 / 3, 2.0**-16], [0.0, 0.0, 0.9, 1 / 3, 0.999999]])
    thresholds = thresholds_of(posterior)
    stored = posterior_of(thresholds)
    labels = np.array([draw_label(thresholds, np.full(5, j)) for j in range(LEVELS)])
    for index, q in enumerate(stored):
        assert ((labels == index + 1).mean(axis=0) == q).all()
    np.testing.assert_allclose(stored, posterior, atol=1 / LEVELS)
    assert stored.sum(axis=0).max() <= 1


def test_is_q_above_u_in_exact_fractions():
    k, j = np.meshgrid(np.arange(0, LEVELS + 1, 257), np.arange(0, LEVELS, 255), indexing="ij")
    u = (j + 0.5) / LEVELS
    q = posterior_of(k[None].astype(np.int32))[0].astype(np.float64)
    assert (draw_label(k[None], j) == (q > u)).all()
    assert not (q == u).any()


@pytest.mark.parametrize("at", VOXELS)
def test_levels_are_uniform_at_single_voxels(fields, at):
    values = (fields[(slice(None), *at)] + 0.5) / LEVELS
    # An exact generator fails one of these voxels with a chance of 1 %, all of them together.
    assert stats.kstest(values, "uniform").pvalue > 0.01 / len(VOXELS)
    assert fields.min() >= 0
    assert fields.max() < LEVELS


def test_neighbours_are_as_alike_as_the_gaussian_says(fields):
    z = ndtri((fields + 0.5) / LEVELS)
    for axis, spacing in ((1, 1.0), (2, 1.5)):
        for lag in (1, 2, 4):
            far = np.roll(z, -lag, axis)[:, : 17 - 4, : 12 - 4]
            found = np.mean(far * z[:, : 17 - 4, : 12 - 4])
            expected = np.exp(-((lag * spacing) ** 2) / (4 * COHERENCE**2))
            assert found == pytest.approx(expected, abs=0.02)


def test_opposite_borders_are_not_neighbours(fields):
    z = ndtri((fields + 0.5) / LEVELS)
    assert abs(np.mean(z[:, 0] * z[:, -1])) < 0.03
    assert abs(np.mean(z[:, :, 0] * z[:, :, -1])) < 0.03


def drawn(name, size, number):
    """Return the posterior of one scene and many raters' labels of it."""
    phantom = PHANTOMS[name]
    grid = grid_of(size, phantom.grid)
    thresholds = thresholds_of(phantom.scene(Draws("scene", name), grid).posterior)
    labels = [
        draw_label(thresholds, uniform_levels(Draws("r", i), grid, phantom.coherence))
        for i in range(number)
    ]
    return posterior_of(thresholds).astype(np.float64), np.array(labels)


@pytest.mark.parametrize(
    ("name", "size"),
    [("lesions-2d", (48, 40)), ("vessels-2d", (40, 40)), ("organs-3d", (16, 18, 16))],
)
def test_many_raters_of_one_scene_agree_with_its_posterior(name, size):
    number = 600
    posterior, labels = drawn(name, size, number)
    for index, q in enumerate(posterior):
        share = (labels == index + 1).mean(axis=0)
        assert (share[q == 0] == 0).all()
        assert (share[q == 1] == 1).all()
        doubt = (q > 0.03) & (q < 0.97)
        assert doubt.sum() > 15
        z = (share - q)[doubt] / np.sqrt(q * (1 - q) / number)[doubt]
        # Neighbours go together, so z² has fewer degrees of freedom than voxels: its mean stays 1.
        assert np.mean(z**2) == pytest.approx(1, abs=0.5)
        assert np.abs(z).max() < 4.5


def test_chi_square_of_voxels_far_apart():
    grid = Grid((80, 80), (1.0, 1.0))
    rows = np.linspace(0, 79, 5).astype(int)  # 19 apart and more: correlation below 1e-9
    q = np.linspace(0.04, 0.96, 25).reshape(5, 5)
    posterior = np.zeros(grid.size)
    posterior[np.ix_(rows, rows)] = q
    thresholds = thresholds_of(posterior[None])
    number = 400
    hits = np.zeros(grid.size)
    for i in range(number):
        hits += draw_label(thresholds, uniform_levels(Draws("chi", i), grid, COHERENCE))
    found = hits[np.ix_(rows, rows)]
    statistic = np.sum((found - number * q) ** 2 / (number * q * (1 - q)))
    assert 0.01 < stats.chi2.sf(statistic, 25) < 0.99
    assert hits.sum() == found.sum()
