import numpy as np
from scipy import stats

from gradsurge.data.preprocessing import (
    bounding_box,
    distinct_classes,
    nonzero_region,
    scaled_box,
    window,
    z_score,
)

RNG = np.random.default_rng(0)


def test_z_score_is_scipys_channel_by_channel():
    image = RNG.normal(500, [[[30]], [[4]]], size=(2, 20, 30)).astype(np.float32)
    expected = stats.zscore(image.astype(np.float64), axis=(1, 2))
    np.testing.assert_allclose(z_score(image), expected, atol=1e-5)


def test_z_score_inside_a_region():
    image = RNG.normal(9, 2, size=(1, 20, 30)).astype(np.float32)
    inside = RNG.random((20, 30)) < 0.3
    score = z_score(image, inside)
    np.testing.assert_allclose(score[0][inside], stats.zscore(image[0][inside]), atol=1e-4)
    assert not score[0][~inside].any()
    assert not z_score(image, np.zeros((20, 30), bool)).any()


def test_no_contrast_gives_zeros():
    assert not z_score(np.full((1, 4, 4), 7.0, np.float32)).any()
    assert not window(np.full(3, 7.0), 0, 10, mean=7.0, deviation=0.0).any()


def test_sixteen_bit_scans_do_not_overflow():
    image = np.full((1, 300, 300), 60000, np.uint16)
    image[0, :150] = 0
    np.testing.assert_allclose(np.unique(z_score(image)), [-1, 1])


def test_the_nonzero_region_has_no_holes_but_keeps_bays():
    image = np.zeros((2, 9, 9))
    image[0, 2:7, 2:7] = 1
    image[:, 4, 4] = 0  # a hole
    image[0, 2:4, 4] = 0  # a bay that opens to the outside
    region = nonzero_region(image)
    assert region[5, 4]
    assert not region[2, 4]
    assert region.sum() == 25 - 3 + 0
    assert bounding_box(region) == ((2, 7), (2, 7))
    assert bounding_box(nonzero_region(np.zeros((1, 3, 3)))) is None


def test_a_scaled_box_covers_the_old_one():
    for new in range(1, 40):
        ((start, stop),) = scaled_box(((3, 5),), (11,), (new,))
        assert start / new <= 3 / 11 + 1e-9
        assert stop / new >= 5 / 11 - 1e-9
        assert 0 <= start < stop <= new


def test_distinct_classes():
    for order in "CF":
        label = np.asarray(RNG.choice([0, 2, 255], size=(40, 50, 60)).astype(np.uint8), order=order)
        assert distinct_classes(label) == [0, 2, 255]
    assert distinct_classes(np.array([7, 10**8, 7], np.uint32)) == [7, 10**8]
