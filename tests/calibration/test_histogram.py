"""The histogram itself: filling, its mirror, its tails, its cells."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradsurge.calibration import filling
from gradsurge.calibration.cells import cells
from gradsurge.calibration.filling import fill
from gradsurge.calibration.histogram import TAIL_START, Histogram, tail_bins, tail_edges
from tests.calibration.definitions import RESOLUTION, hard_pairs, segmentation


def filled(p, y, resolution=RESOLUTION):
    histogram = Histogram(resolution)
    fill(histogram, p, y)
    return histogram


def assert_equal(one, other, tolerance=0.0):
    for name in ("counts", "edges", "tails", "clipped"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)
    for name in ("sums", "squares", "nll"):
        mine, others = getattr(one, name), getattr(other, name)
        np.testing.assert_allclose(mine, others, rtol=0, atol=tolerance, err_msg=name)


# 1 - p is exact, and no multiple of 1/R but 0, 1/16, ... 1 is a dyadic fraction.
_DYADIC = st.lists(st.integers(0, 2**40), min_size=1, max_size=40)


@settings(max_examples=100, deadline=None)
@given(numerators=_DYADIC, coarse=st.booleans(), seed=st.integers(0, 1000))
def test_the_mirror_is_the_histogram_of_the_opposite(numerators, coarse, seed):
    p = np.array(numerators) / 2.0**40
    p = np.round(p * 16) / 16 if coarse else p
    y = np.random.default_rng(seed).random(p.size) < 0.5
    assert_equal(filled(p, y).mirrored(), filled(1.0 - p, ~y), tolerance=1e-12)


@settings(max_examples=50, deadline=None)
@given(hard_pairs())
def test_twice_mirrored_is_the_same(pairs):
    p, y = pairs
    assert_equal(filled(p, y).mirrored().mirrored(), filled(p, y), tolerance=1e-12)


def test_the_mirror_moves_what_is_on_an_edge():
    k = np.arange(RESOLUTION + 1)
    p, y = k / RESOLUTION, k % 2 == 0
    image = filled(p, y).mirrored()
    assert_equal(image, filled((RESOLUTION - k) / RESOLUTION, ~y), tolerance=1e-9)
    assert image.counts.sum(axis=0).tolist() == [2] + [1] * (RESOLUTION - 1)


@settings(max_examples=40, deadline=None)
@given(hard_pairs())
def test_every_pair_is_in_one_cell_and_within_its_edges(pairs):
    p, y = pairs
    for value, outcome in zip(p[:5], y[:5], strict=True):
        found = cells(filled(np.array([value]), np.array([outcome])))
        assert found.counts.tolist() == [1]
        assert found.positives.tolist() == [int(outcome)]
        assert found.lower[0] <= float(value) <= found.upper[0]
        assert found.upper[0] - found.lower[0] <= 1 / RESOLUTION + 1e-16
        assert not found.exact[0] or found.p[0] == pytest.approx(float(value), abs=1e-12)


@settings(max_examples=50, deadline=None)
@given(hard_pairs())
def test_cells_rise_and_hold_every_pair(pairs):
    p, y = pairs
    found = cells(filled(p, y))
    assert found.counts.sum() == p.size
    assert found.positives.sum() == y.sum()
    assert np.all(found.upper[:-1] <= found.lower[1:])
    assert np.all((found.lower - 1e-15 <= found.p) & (found.p <= found.upper + 1e-15))
    widths = (found.upper - found.lower) * found.counts
    assert abs((found.p * found.counts).sum() - p.astype(float).sum()) <= widths.sum() + 1e-12


def test_tail_cells_are_narrow():
    p = 10.0 ** -np.linspace(2.9, 30, 500)
    for histogram in (filled(p, p < 0), filled(p, p < 0).mirrored()):
        found = cells(histogram)
        distance = np.minimum(found.upper, 1 - found.lower)
        width = found.upper - found.lower
        # As a share of the distance; near 1 float64 itself ends at 1e-16.
        assert np.all(width <= distance / 32 + 1e-15)


def test_tail_bins_and_edges_belong_together():
    distance = np.sort(10.0 ** np.random.default_rng(0).uniform(-40, -3, 2000))
    distance = np.concatenate(([0.0], distance, tail_edges(3000)[1:]))
    bins = tail_bins(distance.astype(np.float32))
    edges = tail_edges(int(bins.max()) + 1)
    assert np.all(distance <= edges[bins])
    assert np.all((distance > edges[bins - 1]) | (bins == 0))


def test_quiet_and_busy_voxels_are_summed_alike():
    # The same background in float32 and float64, and beside voxels that make it busy.
    p = np.geomspace(1e-9, 1e-3, 4000)
    y = np.zeros(p.size, bool)
    histogram = filled(p, y)
    assert histogram.sums.sum() == pytest.approx(p.sum(), rel=1e-14)
    assert histogram.squares == pytest.approx(np.square(p).sum(), rel=1e-14)
    assert histogram.nll == pytest.approx(-np.log1p(-p).sum(), rel=1e-9)
    positive = filled(p, ~y)
    assert positive.nll == pytest.approx(-np.log(np.maximum(p, 2.0**-24)).sum(), rel=1e-13)
    assert positive.clipped == np.sum(p < 2.0**-24)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_order_of_voxels_does_not_matter(dtype):
    # Sorted, blocks are quiet or not; shuffled, none is quiet all over.
    rng = np.random.default_rng(3)
    p = np.concatenate([rng.random(3000) * 4e-5, rng.random(1500)]).astype(dtype)
    y = (rng.random(p.size) < p) & (p > 4e-5)
    shuffled = rng.permutation(p.size)
    assert_equal(filled(p, y), filled(p[shuffled], y[shuffled]), tolerance=1e-11)


@pytest.mark.parametrize("number", [1, 1000])
def test_a_zero_with_a_sign_is_zero(number):
    zeros = np.zeros(number, np.float32)
    assert_equal(filled(-zeros, zeros > 0), filled(zeros, zeros > 0))


def test_a_known_nll_replaces_the_computed_one():
    histogram = filled(np.array([0.5]), np.array([True]))
    fill(histogram, np.array([0.0]), np.array([True]), nll=80.0)
    assert histogram.nll == pytest.approx(80.0 + np.log(2))
    assert histogram.clipped == 0


@pytest.mark.parametrize("block", [1, 7, 64])
def test_blocks_do_not_matter(monkeypatch, block):
    p, y = segmentation(500)
    whole = filled(p, y)
    monkeypatch.setattr(filling, "PART", block)
    assert_equal(filled(p, y), whole, tolerance=1e-11)


@pytest.mark.parametrize("resolution", [4 * TAIL_START, 1000, 50400])
def test_other_resolutions(resolution):
    p, y = segmentation(1000, dtype=np.float64)
    histogram = filled(p, y, resolution)
    edges = np.arange(1, resolution + 1) / resolution
    bins = np.searchsorted(edges, p)
    np.testing.assert_array_equal(histogram.counts[1], np.bincount(bins[y], minlength=resolution))
    np.testing.assert_array_equal(histogram.counts[0], np.bincount(bins[~y], minlength=resolution))
    assert_equal(histogram.mirrored(), filled(1 - p, ~y, resolution), tolerance=1e-9)


@pytest.mark.parametrize("resolution", [0, 126, 1001, -25200])
def test_bad_resolutions(resolution):
    with pytest.raises(ValueError, match=f"resolution: expected an even .* got {resolution}"):
        Histogram(resolution)


def test_resolutions_do_not_mix():
    one, other = Histogram(), Histogram(1000)
    with pytest.raises(ValueError, match="different resolutions do not add up: 25200 and 1000"):
        one += other
