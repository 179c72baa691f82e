"""The presets: what they do, how often, and what they depend on."""

import random
import subprocess
import sys

import numpy as np
import pytest
import torch

from gradsurge.data.augmentation import AUGMENTATIONS, Arrays, make_augmentation
from gradsurge.data.augmentation.global_draws import global_draws
from gradsurge.data.augmentation.nnunet import _transforms

SIZE = (16, 20, 12)


def seed_globals(seed):
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 # what batchgeneratorsv2 draws from
    torch.manual_seed(seed)


def draw_globals():
    return np.random.random(), torch.rand(1).item()  # noqa: NPY002 # same


def arrays_for(plan, seed=0, numbers=(0, 1, 2), channels=2):
    rng = np.random.default_rng(seed)
    shape = [stop - start for start, stop in plan.box]
    image = rng.standard_normal((channels, *shape), dtype=np.float32)
    label = rng.choice(numbers, shape).astype(np.uint8)
    return Arrays(torch.from_numpy(image), torch.from_numpy(label), {})


def augmented(name, seed, size=SIZE, **scene):
    augmentation = make_augmentation(name, size)
    rng = np.random.default_rng(seed)
    plan = augmentation.plan((0,) * len(size), rng)
    return augmentation.apply(arrays_for(plan, **scene), plan, rng)


@pytest.mark.parametrize("name", AUGMENTATIONS)
@pytest.mark.parametrize("size", [(16, 24), SIZE, (32, 24, 5)])
def test_patches_have_their_size_and_are_finite(name, size):
    for seed in range(12):
        found = augmented(name, seed, size)
        assert found.image.shape == (2, *size)
        assert found.label.shape == size
        assert found.image.dtype == torch.float32
        assert found.label.dtype == torch.uint8
        assert found.image.isfinite().all()


@pytest.mark.parametrize("name", AUGMENTATIONS)
def test_no_label_is_invented(name):
    for seed in range(25):
        found = augmented(name, seed, numbers=(1, 4, 255))
        assert set(found.label.unique().tolist()) <= {1, 4, 255}


@pytest.mark.parametrize("name", AUGMENTATIONS)
def test_an_empty_image_stays_finite(name):
    augmentation = make_augmentation(name, SIZE)
    for seed in range(25):
        rng = np.random.default_rng(seed)
        plan = augmentation.plan((0, 0, 0), rng)
        shape = [stop - start for start, stop in plan.box]
        blank = Arrays(torch.zeros(1, *shape), torch.zeros(shape, dtype=torch.uint8), {})
        assert augmentation.apply(blank, plan, rng).image.isfinite().all()


@pytest.mark.parametrize("name", AUGMENTATIONS)
def test_the_result_depends_on_the_generator_alone(name):
    for seed in range(8):
        results = []
        for state in (1, 2):
            seed_globals(state)
            results.append(augmented(name, seed))
        assert torch.equal(results[0].image, results[1].image)
        assert torch.equal(results[0].label, results[1].label)


def test_other_generators_give_other_patches():
    for name in ("nnunet", "light"):
        images = [augmented(name, seed).image for seed in range(40)]
        # nnU-Net leaves one patch in 8 · 8 as it is; few can be equal.
        assert len({image.numpy().tobytes() for image in images}) > 25


def test_global_generators_are_left_as_they_were():
    seed_globals(3)
    expected = draw_globals()
    seed_globals(3)
    with pytest.raises(ZeroDivisionError):
        draw_and_fail()
    assert draw_globals() == expected


def draw_and_fail():
    with global_draws(np.random.default_rng(0)):
        draw_globals()
        raise ZeroDivisionError


def test_both_global_generators_are_seeded():
    draws = []
    for seed in (0, 0, 1):
        with global_draws(np.random.default_rng(seed)):
            draws.append(draw_globals())
    assert draws[0] == draws[1]
    assert draws[0][0] != draws[2][0]
    assert draws[0][1] != draws[2][1]


def test_nnunets_list_is_that_of_the_method():
    """METHOD.md, section 6; ranges as in nnU-Net's trainer."""
    found = [(type(t).__name__, p) for t, p in _transforms(None)]
    assert found == [
        ("GaussianNoiseTransform", 0.1),
        ("GaussianBlurTransform", 0.2),
        ("MultiplicativeBrightnessTransform", 0.15),
        ("ContrastTransform", 0.15),
        ("SimulateLowResolutionTransform", 0.25),
        ("GammaTransform", 0.1),
        ("GammaTransform", 0.3),
    ]
    noise, blur, brightness, contrast, low, inverted, plain = (t for t, _ in _transforms(1))
    assert noise.noise_variance == (0, 0.1)
    assert blur.blur_sigma == (0.5, 1.0)
    assert not blur.benchmark, "its choice would depend on the clock"
    assert blur.p_per_channel == low.p_per_channel == 0.5
    assert brightness.multiplier_range.contrast_range == (0.75, 1.25)
    assert contrast.contrast_range.contrast_range == (0.75, 1.25)
    assert contrast.preserve_range
    assert low.scale == (0.5, 1)
    assert low.ignore_axes == (1,)
    assert (inverted.p_invert_image, plain.p_invert_image) == (1, 0)
    assert inverted.gamma.contrast_range == plain.gamma.contrast_range == (0.7, 1.5)


@pytest.mark.parametrize(
    ("size", "degrees", "flat"),
    [
        ((80, 96, 80), 30, None),
        ((96, 96, 32), 30, None),
        ((96, 96, 31), 180, 2),
        ((20, 96, 64), 180, 0),
        ((512, 512), 180, None),
        ((512, 320), 15, None),
    ],
)
def test_nnunets_angles_follow_the_shape(size, degrees, flat):
    affine = make_augmentation("nnunet", size).affine
    assert (affine.degrees, affine.flat_axis) == (degrees, flat)
    assert (affine.p_rotation, affine.p_scaling, affine.scaling) == (0.2, 0.2, (0.7, 1.4))


def test_every_axis_is_mirrored_half_of_the_time():
    augmentation = make_augmentation("light", (2, 2))
    image = torch.tensor([[[1.0, 2.0], [4.0, 8.0]]])
    flipped = np.zeros(2)
    for seed in range(1000):
        rng = np.random.default_rng(seed)
        plan = augmentation.plan((0, 0), rng)._replace(affine=None)
        found = augmentation.apply(
            Arrays(image.clone(), torch.zeros(2, 2, dtype=torch.uint8), {}), plan, rng
        ).image[0]
        flipped += (found[0, 0] > found[1, 0], found[0, 0] > found[0, 1])
    np.testing.assert_allclose(flipped / 1000, 0.5, atol=4 * 0.5 / np.sqrt(1000))


def test_label_and_extras_are_mirrored_with_the_image():
    augmentation = make_augmentation("light", SIZE)
    moved = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        plan = augmentation.plan((0, 0, 0), rng)._replace(affine=None)
        label = torch.arange(16 * 20 * 12).reshape(SIZE).remainder(251).to(torch.uint8)
        posterior = torch.stack([label.float()] * 2)
        found = augmentation.apply(
            Arrays(label.float()[None], label, {"posterior": posterior, "rater": label}), plan, rng
        )
        assert torch.equal(found.extras["rater"], found.label)
        assert torch.equal(found.extras["posterior"][1], found.label.float())
        relation = torch.corrcoef(torch.stack([found.image.flatten(), found.label.flatten()]))
        assert relation[0, 1] > 0.999
        moved += not torch.equal(found.label, label)
    assert moved


def test_the_light_preset_needs_no_slow_import():
    code = (
        "import sys, numpy as np, torch\n"
        "from gradsurge.data.augmentation import Arrays, make_augmentation\n"
        "a = make_augmentation('light', (8, 8)); rng = np.random.default_rng(0)\n"
        "p = a.plan((0, 0), rng)._replace(affine=None)\n"
        "a.apply(Arrays(torch.zeros(1, 8, 8), torch.zeros(8, 8, dtype=torch.uint8), {}), p, rng)\n"
        "sys.exit('batchgeneratorsv2' in sys.modules or 'pandas' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_bad_arguments():
    with pytest.raises(ValueError, match=r"augmentation: unknown 'heavy'; known: nnunet, light"):
        make_augmentation("heavy", (32, 32))
    with pytest.raises(ValueError, match=r"size: .* 4 voxels along every axis, got \(32, 3\)"):
        make_augmentation("nnunet", (32, 3))
