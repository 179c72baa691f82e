import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from monai.inferers import sliding_window_inference
from monai.networks.nets import BasicUNet
from torch import nn

from gradsurge.training.inference import iterate_slabs, sliding_window, sliding_window_logits
from tests.training.inference.plain_window import plain_logits


def place_dependent(windows):
    """A model whose answer depends on where in the window a voxel lies, unlike a convolution's."""
    axes = windows.shape[2:]
    ramp = torch.linspace(-1, 1, int(np.prod(axes))).reshape(axes)
    return torch.cat((windows[:, :1] + ramp, windows[:, :1] * ramp, windows.mean(1, True)), dim=1)


def place_dependent_numpy(window):
    return place_dependent(torch.from_numpy(window)[None]).numpy()[0]


@st.composite
def tasks(draw):
    axes = draw(st.sampled_from([2, 3]))
    window = draw(st.tuples(*[st.integers(1, 7)] * axes))
    shape = draw(st.tuples(*[st.integers(1, 15)] * axes))
    return shape, window, draw(st.sampled_from([0.0, 0.25, 0.5, 0.75])), draw(st.integers(1, 5))


@given(tasks())
@settings(max_examples=60, deadline=None)
def test_equals_a_plain_loop(task):
    shape, window, overlap, batch = task
    image = np.random.default_rng(0).normal(size=(2, *shape)).astype(np.float32)
    expected = plain_logits(place_dependent_numpy, image, window, overlap)
    found = sliding_window_logits(
        place_dependent, torch.from_numpy(image), window, overlap=overlap, batch=batch
    )
    assert found.dtype == torch.float32
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4, atol=1e-5)


@given(tasks())
@settings(max_examples=40, deadline=None)
def test_slabs_are_the_whole_in_order_and_without_gaps(task):
    shape, window, overlap, batch = task
    image = torch.randn(1, *shape, generator=torch.Generator().manual_seed(1))
    options = {"overlap": overlap, "batch": batch}
    whole = sliding_window_logits(place_dependent, image, window, **options)
    reached, slabs = 0, []
    for rows, slab in iterate_slabs(place_dependent, image, window, **options):
        assert (rows.start, rows.stop) == (reached, reached + slab.shape[1])
        reached = rows.stop
        slabs.append(slab)
    assert torch.equal(torch.cat(slabs, dim=1), whole)


def test_slabs_from_another_device_are_joined():
    image = torch.randn(2, 13, 6, 7)
    slabs = iterate_slabs(place_dependent, image, (4, 8, 4))
    whole = sliding_window_logits(place_dependent, image, (4, 8, 4))
    assert torch.equal(sliding_window._joined(slabs, image), whole)


@pytest.mark.parametrize(
    ("shape", "window"),
    [((24, 32), (8, 16)), ((16, 24, 12), (8, 8, 4)), ((5, 24, 9), (8, 16, 9)), ((3, 4), (8, 8))],
)
@pytest.mark.parametrize("batch", [1, 3])
def test_equals_monai_where_the_windows_lie_alike(shape, window, batch):
    image = torch.randn(2, *shape, generator=torch.Generator().manual_seed(2))
    expected = sliding_window_inference(
        image[None], window, batch, place_dependent, 0.5, mode="gaussian", sigma_scale=0.125
    )[0]
    found = sliding_window_logits(place_dependent, image, window, batch=batch)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


def test_a_real_network_equals_monai():
    torch.manual_seed(0)
    network = BasicUNet(2, 1, 3, features=(4, 4, 8, 8, 8, 4)).eval()
    image = torch.randn(1, 64, 96)
    with torch.no_grad():
        expected = sliding_window_inference(image[None], (32, 32), 4, network, 0.5, "gaussian")[0]
    found = sliding_window_logits(network, image, (32, 32), batch=4)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
    assert not found.requires_grad
    found.add_(1.0)  # an ordinary tensor: not one that inference mode forbids to change


def test_mirroring_is_the_mean_over_all_flips():
    image = torch.randn(1, 9, 6, 5, generator=torch.Generator().manual_seed(3))
    window, axes = (9, 6, 5), (0, 2)
    flips = [(), (1,), (3,), (1, 3)]
    expected = sum(place_dependent(image.flip(flip)[None])[0].flip(flip) for flip in flips) / len(
        flips
    )
    found = sliding_window_logits(place_dependent, image, window, mirror_axes=axes)
    torch.testing.assert_close(found, expected)


def test_one_window_is_the_model_itself():
    image = torch.randn(2, 6, 7)
    found = sliding_window_logits(place_dependent, image, (6, 7))
    torch.testing.assert_close(found, place_dependent(image[None])[0])


def test_logits_are_averaged_not_probabilities():
    """Two windows that disagree: the mean logit's softmax is not the mean of softmaxes."""
    answers = iter([4.0, -2.0])

    def model(windows):
        return torch.full((1, 1, 4, 4), next(answers))

    found = sliding_window_logits(model, torch.zeros(1, 6, 4), (4, 4), sigma=float("inf"))
    assert found[0, :, 0].tolist() == pytest.approx([4, 4, 1, 1, -2, -2])


def test_equal_weights_with_an_infinite_sigma_are_monais_constant_mode():
    image = torch.randn(2, 12, 8)
    expected = sliding_window_inference(image[None], (4, 4), 1, place_dependent, 0.5)[0]
    found = sliding_window_logits(place_dependent, image, (4, 4), sigma=float("inf"))
    torch.testing.assert_close(found, expected)


def test_no_gradient_is_recorded_and_the_image_stays():
    network = nn.Conv2d(1, 2, 1)
    image = torch.randn(1, 9, 9, requires_grad=True)
    before = image.detach().clone()
    assert not sliding_window_logits(network, image, (4, 4)).requires_grad
    assert torch.equal(image, before)


def test_halves_are_summed_in_float32():
    image = torch.ones(1, 9, 9)
    found = sliding_window_logits(lambda w: w.half() * 2049, image, (4, 4), mirror_axes=(0, 1))
    assert found.dtype == torch.float32
    assert found.unique().tolist() == pytest.approx([2048.0])


def test_slabs_hold_no_more_than_the_rows_of_a_window(monkeypatch):
    """The largest tensor made on the way has K times the rows of a window."""
    sizes = []
    zeros = torch.zeros

    def noted(*args, **kwargs):
        made = zeros(*args, **kwargs)
        sizes.append(tuple(made.shape))
        return made

    monkeypatch.setattr(torch, "zeros", noted)
    for _ in iterate_slabs(place_dependent, torch.ones(1, 40, 10, 10), (8, 8, 8)):
        continue
    assert sorted(sizes) == [(1, 8, 10, 10), (3, 8, 10, 10)]


@pytest.mark.parametrize(
    ("window", "options", "message"),
    [
        ((4,), {}, "window"),
        ((4, 0), {}, "window"),
        ((4, 4), {"overlap": 1.0}, "overlap"),
        ((4, 4), {"overlap": float("nan")}, "overlap"),
        ((4, 4), {"sigma": 0.0}, "sigma"),
        ((4, 4), {"batch": 0}, "batch"),
        ((4, 4), {"mirror_axes": (2,)}, "mirror_axes"),
        ((4, 4), {"mirror_axes": (0, 0)}, "mirror_axes"),
        ((6, 4), {"divisor": (4, 4)}, r"divisible by \(4, 4\).*try \(8, 4\)"),
        ((4, 4), {"divisor": (4,)}, "divisor"),
        ((4, 4, 4), {}, "image"),
    ],
)
@pytest.mark.parametrize("function", [sliding_window_logits, iterate_slabs])
def test_bad_arguments_are_named(function, window, options, message):
    with pytest.raises(ValueError, match=message):
        function(place_dependent, torch.ones(1, 9, 9), window, **options)


@pytest.mark.parametrize(
    "image", [torch.ones(9, 9), torch.ones(1, 0, 9), torch.ones(1, 9, 9).int()]
)
def test_bad_images_are_named(image):
    with pytest.raises(ValueError, match="image: expected floating point"):
        sliding_window_logits(place_dependent, image, (4, 4))


def test_what_the_model_returns_is_checked():
    image = torch.ones(1, 9, 9)
    with pytest.raises(TypeError, match=r"got list.*model\.eval"):
        sliding_window_logits(lambda w: [w, w], image, (4, 4))
    with pytest.raises(ValueError, match=r"\(1, 'K', 4, 4\), got \(1, 1, 2, 2\)"):
        sliding_window_logits(lambda w: w[..., ::2, ::2], image, (4, 4))
