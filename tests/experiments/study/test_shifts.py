"""Shifted images against SciPy and NumPy."""

import numpy as np
import pytest
import torch
from scipy import ndimage

from gradsurge.experiments.study.shifts import STRENGTHS, shifted

IMAGE = np.random.default_rng(1).normal(2.0, 3.0, (2, 24, 30)).astype(np.float32)


@pytest.mark.parametrize("kind", STRENGTHS)
@pytest.mark.parametrize("shape", [(2, 24, 30), (1, 9, 12, 10)])
def test_a_shift_is_the_same_every_time(kind, shape):
    image = np.random.default_rng(2).normal(size=shape).astype(np.float32)
    before = image.copy()
    strength = STRENGTHS[kind][2]
    one, again = (shifted(image, kind, strength, "case 7", seed=3) for _ in range(2))
    assert (one == again).all()
    assert (image == before).all()
    assert one.dtype == np.float32
    assert one.shape == shape
    assert np.isfinite(one).all()
    assert not np.allclose(one, image)


@pytest.mark.parametrize("kind", STRENGTHS)
def test_stronger_is_further(kind):
    assert len(STRENGTHS[kind]) == 5
    gaps = [np.abs(shifted(IMAGE, kind, s, "a") - IMAGE).mean() for s in STRENGTHS[kind]]
    assert gaps == sorted(gaps)


def test_blur_is_scipys():
    found = shifted(IMAGE, "blur", 1.5, "a")
    expected = [ndimage.gaussian_filter(c, 1.5, mode="nearest") for c in IMAGE]
    assert found == pytest.approx(np.stack(expected), abs=1e-5)


def test_noise_hangs_on_the_case_and_the_seed():
    flat = np.random.default_rng(0).normal(5.0, 4.0, (1, 300, 300)).astype(np.float32)
    one, other, reseeded = (
        shifted(flat, "noise", 0.5, *which) - flat for which in (("a", 0), ("b", 0), ("a", 1))
    )
    assert one.std() == pytest.approx(0.5 * flat.std(), rel=0.02)
    for second in (other, reseeded):
        assert abs(np.corrcoef(one.ravel(), second.ravel())[0, 1]) < 0.02
    twice = shifted(flat, "noise", 1.0, "a") - flat
    assert twice == pytest.approx(2 * one, abs=1e-4)


def test_contrast_is_a_gamma_curve_of_each_channel():
    from skimage.exposure import adjust_gamma

    found = shifted(IMAGE, "contrast", 2.0, "a")
    for channel, curved in zip(IMAGE.astype(np.float64), found, strict=True):
        low, width = channel.min(), np.ptp(channel)
        expected = low + width * adjust_gamma((channel - low) / width, 2.0)
        assert curved == pytest.approx(expected, abs=1e-5)
    flat = np.full((1, 4, 4), 3.0, np.float32)
    assert (shifted(flat, "contrast", 4.0, "a") == flat).all()


def test_every_shift_reaches_a_network_with_instance_norm():
    norm = torch.nn.InstanceNorm2d(2)
    before = norm(torch.from_numpy(IMAGE[None]))
    for kind, strengths in STRENGTHS.items():
        after = norm(torch.from_numpy(shifted(IMAGE, kind, strengths[0], "a")[None]))
        assert (after - before).abs().mean() > 0.01


def test_lower_resolution_is_a_mean_drawn_out():
    found = shifted(IMAGE, "resolution", 2.0, "a")
    small = IMAGE.reshape(2, 12, 2, 15, 2).mean((2, 4))
    expected = [ndimage.zoom(c, 2, order=1, mode="nearest", grid_mode=True) for c in small]
    assert found == pytest.approx(np.stack(expected), abs=1e-5)


def test_an_unknown_shift():
    with pytest.raises(ValueError, match="shift: unknown 'fog'; known: blur, noise"):
        shifted(IMAGE, "fog", 1.0, "a")
