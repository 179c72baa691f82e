"""Rotated and scaled patches, against batchgeneratorsv2's SpatialTransform."""

import numpy as np
import pytest
import torch
from batchgeneratorsv2.transforms.spatial.spatial import SpatialTransform
from scipy import ndimage

from gradsurge.data.augmentation import Arrays
from gradsurge.data.augmentation.affine import AffineChances, draw_affine
from gradsurge.data.augmentation.global_draws import global_draws
from gradsurge.data.augmentation.reach import reached_box, sampling_grid
from gradsurge.data.augmentation.resampling import distinct, resample

SHAPE, SIZE = {2: (60, 70), 3: (40, 44, 36)}, {2: (20, 24), 3: (12, 16, 10)}


def blobs(shape, classes, seed=0):
    rng = np.random.default_rng(seed)
    field = ndimage.gaussian_filter(
        rng.standard_normal((classes, *shape)), (0, *[3.0] * len(shape))
    )
    return field.argmax(0).astype(np.uint8)


def scene(dimensions, classes):
    shape = SHAPE[dimensions]
    rng = np.random.default_rng(1)
    image = rng.standard_normal((2, *shape), dtype=np.float32)
    posterior = rng.random((2, *shape), dtype=np.float32)
    return image, blobs(shape, classes), posterior


def cut(whole, start, affine, size):
    """Return the patch, reading only the box that it reaches."""
    box = reached_box(start, size, affine)
    slices = tuple(slice(a, b) for a, b in box)
    image, label, posterior = (torch.from_numpy(a[(..., *slices)].copy()) for a in whole)
    arrays = Arrays(image, label, {"posterior": posterior, "second_rater": label})
    return resample(arrays, sampling_grid(start, size, affine, box))


def theirs(whole, size, seed):
    """Return the patch in the middle by SpatialTransform, out of the whole case; and its matrix."""
    transform = SpatialTransform(
        size, 0, random_crop=False, p_rotation=1, rotation=(-0.5, 0.5), p_scaling=1,
        scaling=(0.7, 1.4), p_synchronize_scaling_across_axes=1,
    )  # fmt: skip
    image, label, posterior = (torch.from_numpy(a) for a in whole)
    with global_draws(np.random.default_rng(seed)):
        params = transform.get_parameters(image=image)
    data = {"image": image, "segmentation": label[None], "regression_target": posterior}
    return transform.apply(data, **params), params["affine"]


@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize("classes", [1, 2, 4])
def test_equals_batchgeneratorsv2(dimensions, classes):
    whole, size = scene(dimensions, classes), SIZE[dimensions]
    start = [(n - p) // 2 for n, p in zip(SHAPE[dimensions], size, strict=True)]
    for seed in range(5):
        other, affine = theirs(whole, size, seed)
        ours = cut(whole, start, affine, size)
        torch.testing.assert_close(ours.image, other["image"], atol=2e-4, rtol=0)
        torch.testing.assert_close(
            ours.extras["posterior"], other["regression_target"], atol=2e-4, rtol=0
        )
        # They round shares to float16: voxels on the edge may fall on the other side.
        assert (ours.label != other["segmentation"][0]).float().mean() < 2e-3
        assert torch.equal(ours.extras["second_rater"], ours.label)


def test_labels_are_the_largest_share_of_scipys_interpolation():
    _, label, _ = whole = scene(3, 4)
    size, start = SIZE[3], (10, 12, 11)
    affine = draw_affine(AffineChances(1.0, 30.0, 1.0, (0.7, 1.4)), 3, np.random.default_rng(9))
    half = (np.array(size) - 1) / 2
    offset = np.array(start) + half - affine @ half
    shares = [
        ndimage.affine_transform((label == k).astype(float), affine, offset, size, order=1)
        for k in range(4)
    ]
    best, second = np.sort(shares, axis=0)[-1:-3:-1]
    clear = best - second > 1e-3
    ours = cut(whole, start, affine, size)
    np.testing.assert_array_equal(ours.label.numpy()[clear], np.argmax(shares, 0)[clear])
    assert clear.mean() > 0.98


def test_no_label_is_invented_between_others():
    """Interpolating the numbers would make 1 and 2 between 0 and 3, and 254 below 255."""
    label = blobs(SHAPE[3], 3)
    label = np.array([0, 3, 255], np.uint8)[label]
    image, _, posterior = scene(3, 2)
    for seed in range(5):
        affine = draw_affine(AffineChances(1, 30, 1, (0.7, 1.4)), 3, np.random.default_rng(seed))
        found = cut((image, label, posterior), (14, 14, 13), affine, SIZE[3]).label
        assert set(found.unique().tolist()) <= {0, 3, 255}


def test_a_posterior_stays_one():
    image, label, _ = scene(3, 2)
    first = np.random.default_rng(0).random(SHAPE[3], dtype=np.float32)
    posterior = np.stack([first, 1 - first])
    affine = draw_affine(AffineChances(1, 30, 1, (0.7, 1.4)), 3, np.random.default_rng(2))
    found = cut((image, label, posterior), (14, 14, 13), affine, SIZE[3]).extras["posterior"]
    torch.testing.assert_close(found.sum(0), torch.ones(SIZE[3]))
    assert found.min() >= 0


def test_the_identity_changes_nothing():
    image, label, posterior = whole = scene(3, 4)
    found = cut(whole, (5, 6, 7), np.eye(3), SIZE[3])
    at = (slice(5, 17), slice(6, 22), slice(7, 17))
    np.testing.assert_allclose(found.image, image[:, *at], atol=2e-5)
    np.testing.assert_array_equal(found.label, label[at])
    np.testing.assert_allclose(found.extras["posterior"], posterior[:, *at], atol=2e-5)


def test_distinct_values_are_numpys():
    rng = np.random.default_rng(0)
    for _ in range(20):
        label = rng.choice(rng.integers(0, 256, 5), (6, 7)).astype(np.uint8)
        assert distinct(label) == np.unique(label).tolist()
