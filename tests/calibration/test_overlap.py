import math

import numpy as np
import pytest
import scipy.ndimage
from sklearn.metrics import f1_score

from gradsurge.calibration.overlap import dice, surface_scores


def cube(shape, start, side):
    mask = np.zeros(shape, bool)
    mask[tuple(slice(s, s + side) for s in start)] = True
    return mask


def scores_by_scipy(prediction, label, spacing, tolerance):
    """Return NSD and HD95 by distance transforms of the whole, uncropped image."""
    edges = [m & ~scipy.ndimage.binary_erosion(m) for m in (prediction, label)]
    maps = [scipy.ndimage.distance_transform_edt(~e, sampling=spacing) for e in edges]
    there, back = maps[1][edges[0]], maps[0][edges[1]]
    near = sum(np.count_nonzero(d <= tolerance + 1e-6) for d in (there, back))
    hd95 = max(np.percentile(there, 95), np.percentile(back, 95))
    return near / (len(there) + len(back)), hd95


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("shape", [(13, 17), (6, 7, 8)])
def test_dice_against_scikit_learn(seed, shape):
    prediction, label = np.random.default_rng(seed).random((2, *shape)) > 0.7
    assert dice(prediction, label) == pytest.approx(
        f1_score(label.ravel(), prediction.ravel()), abs=1e-15
    )


def test_dice_of_empty_masks():
    empty, some = np.zeros((4, 4), bool), np.eye(4, dtype=bool)
    assert math.isnan(dice(empty, empty))
    assert dice(empty, some) == dice(some, empty) == 0.0
    assert dice(some, some) == 1.0
    assert type(dice(some, some)) is float


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("shape", "spacing"), [((30, 41), (0.7, 1.3)), ((14, 15, 16), (0.45, 1.1, 2.5))]
)
def test_surfaces_against_scipy(seed, shape, spacing):
    rng = np.random.default_rng(seed)
    smooth = scipy.ndimage.gaussian_filter(rng.standard_normal((2, *shape)), (0, *[2] * len(shape)))
    label = smooth[0] > 0.02
    prediction = smooth[0] + 0.6 * smooth[1] > 0.05  # both reach the edges of the image
    expected = scores_by_scipy(prediction, label, spacing, 1.5)
    assert 0 < expected[0] < 1
    assert surface_scores(prediction, label, spacing, 1.5) == pytest.approx(expected, rel=1e-5)


def test_a_shifted_cube():
    # A cube of side 10 moved by 3 voxels of 2 mm: the face left behind is 6 mm off, nothing is
    # further, and it is 100 of 488 surface voxels.
    shape = (24, 24, 24)
    a, b = cube(shape, (5, 5, 5), 10), cube(shape, (8, 5, 5), 10)
    found = surface_scores(a, b, (2.0, 1.0, 1.0), tolerance_mm=6.0)
    assert found.nsd == 1.0
    assert found.hd95 == 6.0
    nearer = surface_scores(a, b, (2.0, 1.0, 1.0), tolerance_mm=5.9)
    assert nearer.nsd == pytest.approx(1 - 100 / 488)
    assert surface_scores(a, a, (2.0, 1.0, 1.0), tolerance_mm=0.0) == (1.0, 0.0)


def test_concentric_squares():
    # Every voxel of the inner ring is 4 from the outer one; corners of the outer are 4 sqrt(2).
    inner, outer = cube((40, 40), (12, 12), 16), cube((40, 40), (8, 8), 24)
    found = surface_scores(inner, outer, (1.0, 1.0), tolerance_mm=4.0)
    far = 4 * 7  # at each corner 4 and 4 voxels, one of them common, have no voxel opposite
    assert found.nsd == pytest.approx(1 - far / (4 * 15 + 4 * 23))
    assert 4.0 < found.hd95 < 4 * math.sqrt(2)


@pytest.mark.parametrize("size", [0.1, 0.3, 0.7, 1 / 3, 0.9])
@pytest.mark.parametrize("steps", [1, 2, 3])
def test_a_distance_equal_to_the_tolerance_counts(size, steps):
    a = cube((20, 20), (3, 3), 6)
    found = surface_scores(np.roll(a, steps, axis=0), a, (size, size), steps * size)
    assert found.nsd == 1.0


def test_what_lies_around_does_not_matter():
    a, b = cube((12, 12, 12), (2, 2, 2), 5), cube((12, 12, 12), (4, 3, 2), 6)
    near = surface_scores(a, b, (1.0, 1.0, 3.0), 1.0)
    wide = [np.pad(m, ((9, 0), (30, 4), (0, 7))) for m in (a, b)]
    assert surface_scores(*wide, (1.0, 1.0, 3.0), 1.0) == near
    assert surface_scores(*(np.asfortranarray(m) for m in (a, b)), (1.0, 1.0, 3.0), 1.0) == near


def test_surfaces_of_empty_masks():
    empty, some = np.zeros((6, 6), bool), cube((6, 6), (1, 1), 3)
    assert all(math.isnan(v) for v in surface_scores(empty, empty, (1, 1), 1))
    assert surface_scores(empty, some, (1, 1), 1) == (0.0, math.inf)
    assert surface_scores(some, empty, (1, 1), 1) == (0.0, math.inf)


def test_a_single_voxel_and_a_full_image():
    full, dot = np.ones((5, 5), bool), cube((5, 5), (2, 2), 1)
    expected = scores_by_scipy(full, dot, (1, 1), 2.0)
    assert surface_scores(full, dot, (1, 1), 2.0) == pytest.approx(expected, rel=1e-6)


MASK = np.eye(3, dtype=bool)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: dice(MASK * 0.5, MASK), TypeError, "prediction: .*bool.*float64"),
        (lambda: dice(MASK, MASK[:, :2]), ValueError, r"label: .*\(3, 3\), got \(3, 2\)"),
        (lambda: surface_scores(MASK, MASK, (1, 1, 1), 1), ValueError, "spacing: expected 2"),
        (lambda: surface_scores(MASK, MASK, (1, -1), 1), ValueError, "spacing: .*> 0"),
        (lambda: surface_scores(MASK, MASK, (1, 1), -1), ValueError, "tolerance_mm: .*got -1"),
        (lambda: surface_scores(MASK, MASK, (1, 1), math.nan), ValueError, "tolerance_mm: .*nan"),
    ],
)
def test_bad_input(call, error, text):
    with pytest.raises(error, match=text):
        call()
