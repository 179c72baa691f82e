"""Resampling against scikit-image (nnU-Net's own), torch and plain means."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage
from skimage.transform import resize

from gradsurge.data.grid import Grid
from gradsurge.data.preprocessing import image_onto_grid, label_onto_grid
from gradsurge.data.preprocessing.resampling import weights

RNG = np.random.default_rng(0)


def grid(source, resampled, crop=None):
    axes = tuple(range(len(source)))
    whole = tuple((0, n) for n in resampled)
    ones, flips = (1.0,) * len(source), (False,) * len(source)
    return Grid(source, ones, None, axes, flips, resampled, crop or whole)


SHAPES = [((20, 31, 12), (27, 14, 40)), ((9, 16), (30, 5)), ((6, 7, 8), (6, 9, 8))]


@pytest.mark.parametrize(("source", "new"), SHAPES)
@pytest.mark.parametrize(("how", "order"), [("linear", 1), ("cubic", 3)])
def test_as_nnunet_resamples(source, new, how, order):
    image = RNG.normal(size=source).astype(np.float32)
    ours = image_onto_grid(image[None], grid(source, new), how)[0]
    theirs = resize(image, new, order=order, mode="edge", anti_aliasing=False, clip=False)
    np.testing.assert_allclose(ours, theirs, atol=2e-5)


@pytest.mark.parametrize(("source", "new"), SHAPES)
def test_linear_is_torch_with_half_pixels(source, new):
    image = RNG.normal(size=(2, *source)).astype(np.float32)
    mode = {2: "bilinear", 3: "trilinear"}[len(source)]
    theirs = torch.nn.functional.interpolate(torch.from_numpy(image)[None], new, mode=mode)
    ours = image_onto_grid(image, grid(source, new), "linear")
    np.testing.assert_allclose(ours, theirs[0].numpy(), atol=2e-5)


def test_area_is_the_mean_of_what_is_covered():
    image = RNG.normal(size=(12, 8)).astype(np.float32)
    ours = image_onto_grid(image[None], grid((12, 8), (4, 4)), "area")[0]
    np.testing.assert_allclose(ours, image.reshape(4, 3, 4, 2).mean(axis=(1, 3)), atol=1e-6)


@given(st.integers(1, 40), st.integers(1, 40), st.sampled_from(["linear", "cubic", "area"]))
def test_weights_keep_constants_and_linear_ones_stay_inside(count, new, how):
    matrix = weights(count, new, how)
    assert matrix.shape == (new, count)
    np.testing.assert_allclose(matrix.sum(axis=1), 1.0, atol=1e-5)
    if how != "cubic":
        assert matrix.min() >= 0.0


@given(st.integers(1, 40), st.integers(1, 40))
def test_area_keeps_the_sum(count, new):
    np.testing.assert_allclose(weights(count, new, "area").sum(axis=0), new / count, rtol=1e-5)


def test_cropping_while_resampling_is_cropping_afterwards():
    image = RNG.normal(size=(1, 20, 31, 12)).astype(np.float32)
    source, new, crop = (20, 31, 12), (27, 14, 40), ((3, 20), (0, 9), (11, 40))
    whole = image_onto_grid(image, grid(source, new))
    part = image_onto_grid(image, grid(source, new, crop))
    np.testing.assert_allclose(part, whole[:, 3:20, 0:9, 11:40], atol=1e-6)


def test_a_crop_that_reaches_outside_is_filled():
    image = np.ones((1, 4, 4), np.float32)
    part = image_onto_grid(image, grid((4, 4), (4, 4), ((-2, 3), (1, 6))), outside=-7.0)
    assert part[0, :2].tolist() == [[-7.0] * 5] * 2
    assert part[0, 2].tolist() == [1.0, 1.0, 1.0, -7.0, -7.0]
    label = label_onto_grid(
        np.ones((4, 4), np.uint8), grid((4, 4), (4, 4), ((-2, 3), (1, 6))), outside=9
    )
    assert label[0, 0] == 9
    assert label[2, 0] == 1


def one_hot_argmax(label, new):
    """Each class by itself, all of them, the largest wins; a plain second way."""
    shares = [
        resize((label == c).astype(float), new, order=1, mode="edge", anti_aliasing=False)
        for c in range(4)
    ]
    return np.array(shares)


@pytest.mark.parametrize(("source", "new"), SHAPES)
def test_labels_class_by_class(source, new):
    label = RNG.choice(4, size=source).astype(np.uint8)
    ours = label_onto_grid(label, grid(source, new))
    shares = one_hot_argmax(label, new)
    clear = np.sort(shares, axis=0)[-1] - np.sort(shares, axis=0)[-2] > 1e-3
    np.testing.assert_array_equal(ours[clear], shares.argmax(axis=0)[clear])
    assert clear.mean() > 0.8


def test_no_class_is_invented_between_two_others():
    label = np.zeros((20, 20), np.uint8)
    label[5:15, 5:15] = 4  # interpolated numbers would pass through 1, 2 and 3
    assert set(np.unique(label_onto_grid(label, grid((20, 20), (33, 47))))) == {0, 4}


def test_a_tie_goes_to_the_nearest_pixel():
    halved = {}
    for column in (2, 3):
        label = np.zeros((8, 8), np.uint8)
        label[:, column] = 1
        halved[column] = label_onto_grid(label, grid((8, 8), (4, 4)), "area")
    assert halved[3][:, 1].tolist() == [1, 1, 1, 1]
    assert halved[2].sum() + halved[3].sum() == 4  # as much as 1 in 8 of two images


@pytest.mark.parametrize("swap", [False, True])
def test_ties_favour_no_class(swap):
    """Thin structures halved by area: their share stays, whichever class has the larger number."""
    before = after = 0.0
    for seed in range(6):
        noise = ndimage.gaussian_filter(np.random.default_rng(seed).normal(size=(256, 256)), 4)
        vessels = np.abs(noise) < 0.02  # the lines where a smooth field changes its sign
        label = (vessels ^ swap).astype(np.uint8)
        made = label_onto_grid(label, grid((256, 256), (128, 128)), "area") ^ swap
        before, after = before + vessels.mean(), after + made.mean()
    assert 0.05 < before / 6 < 0.3
    assert after == pytest.approx(before, rel=0.02)


def test_a_label_of_one_class_stays_that():
    assert (label_onto_grid(np.full((5, 5), 3, np.uint8), grid((5, 5), (9, 2))) == 3).all()
