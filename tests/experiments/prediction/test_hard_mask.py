import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from gradsurge.experiments.prediction.hard_mask import (
    LikeliestClass,
    PaintedMask,
    ThresholdedClass,
)


def added(mask, p):
    for index, channel in enumerate(p):
        mask.add(index, channel)
    return mask.finished()


@given(st.integers(2, 6), st.integers(0, 1000))
def test_likeliest_class_is_argmax(classes, seed):
    z = torch.randn(classes, 5, 4, generator=torch.Generator().manual_seed(seed)) * 3
    p = z.softmax(0).numpy()
    mask = added(LikeliestClass((5, 4)), p[1:])
    assert np.array_equal(mask, p.argmax(0))


def test_of_equal_classes_the_first_wins():
    p = np.array([[0.5], [0.0]], np.float32)
    assert added(LikeliestClass((1,)), p).tolist() == [0]
    p = np.array([[0.4], [0.4]], np.float32)
    assert added(LikeliestClass((1,)), p).tolist() == [1]


@given(st.integers(0, 1000))
def test_thresholded_class_is_what_a_loop_finds(seed):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet([1, 1, 1, 1], size=20).T.astype(np.float32)[1:]
    limits = rng.uniform(0.05, 0.6, 3)
    expected = []
    for voxel in p.T:
        ratios = [float(v) / t for v, t in zip(voxel, limits, strict=True)]
        expected.append(1 + int(np.argmax(ratios)) if max(ratios) > 1 else 0)
    assert added(ThresholdedClass((20,), limits), p).tolist() == expected


def test_regions_are_painted_in_order_with_their_numbers():
    whole = np.array([0.9, 0.9, 0.1, 0.3], np.float32)
    core = np.array([0.2, 0.7, 0.7, 0.3], np.float32)
    mask = added(PaintedMask((4,), (0.5, 0.6), (2, 1)), [whole, core])
    assert mask.tolist() == [2, 1, 1, 0]


def test_a_probability_at_the_threshold_is_background():
    p = np.array([[0.25, np.nextafter(np.float32(0.25), np.float32(1))]], np.float32)
    assert added(PaintedMask((2,), (0.25,), (1,)), p).tolist() == [0, 1]
