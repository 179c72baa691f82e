"""Where patches lie."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from gradsurge.data.patches import foreground_start, random_start

shapes = st.integers(2, 3).flatmap(
    lambda d: st.tuples(*(st.lists(st.integers(1, 30), min_size=d, max_size=d) for _ in range(2)))
)


def inside(start, shape, size):
    """Tell whether a patch lies in its case, or the case in the patch, along each axis."""
    return all(
        0 <= a <= n - p if n >= p else a <= 0 <= n <= a + p
        for a, n, p in zip(start, shape, size, strict=True)
    )


@given(shapes, st.integers(0, 10**6))
def test_random_patches_lie_inside(pair, seed):
    shape, size = pair
    assert inside(random_start(shape, size, np.random.default_rng(seed)), shape, size)


@given(shapes, st.integers(0, 10**6))
def test_foreground_patches_lie_inside_and_hold_the_voxel(pair, seed):
    shape, size = pair
    rng = np.random.default_rng(seed)
    voxel = rng.integers(0, shape).astype(np.uint16)
    start = foreground_start(shape, size, {1: voxel[None]}, rng)
    assert inside(start, shape, size)
    assert all(a <= v < a + p for a, v, p in zip(start, voxel.tolist(), size, strict=True))


def test_a_voxel_far_from_the_borders_is_in_the_middle():
    start = foreground_start((50, 50), (9, 10), {3: np.array([[25, 25]])}, np.random.default_rng(0))
    assert start == (21, 20)


def test_every_place_is_as_likely_as_any_other():
    rng = np.random.default_rng(0)
    starts = [random_start((12, 6), (4, 6), rng) for _ in range(9000)]
    assert {s[1] for s in starts} == {0}
    assert stats.chisquare(np.bincount([s[0] for s in starts])).pvalue > 1e-4


def test_classes_are_as_likely_as_each_other_and_voxels_within_them():
    """Class 2 has one voxel, class 1 four hundred."""
    ones = np.stack([np.arange(400), np.zeros(400, int)], 1)
    locations = {1: ones, 2: np.array([[777, 0]]), 3: np.zeros((0, 2), int)}
    rng = np.random.default_rng(0)
    starts = [foreground_start((1000, 1), (1, 1), locations, rng)[0] for _ in range(4000)]
    share = np.mean([start == 777 for start in starts])
    assert abs(share - 0.5) < 4 * 0.5 / np.sqrt(4000)
    rest = np.bincount([s for s in starts if s != 777], minlength=400)
    assert stats.chisquare(rest.reshape(20, 20).sum(1)).pvalue > 1e-4


def test_a_case_without_foreground_gives_patches_anywhere():
    rng = np.random.default_rng(0)
    starts = {foreground_start((9, 9), (8, 8), {}, rng) for _ in range(100)}
    assert starts == {(0, 0), (0, 1), (1, 0), (1, 1)}
