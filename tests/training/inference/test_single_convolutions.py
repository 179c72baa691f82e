import pytest
import torch
from torch import nn

from gradsurge.training.inference import sliding_window_logits
from gradsurge.training.inference.single_convolutions import fast_convolutions

SLOW = "aten::slow_conv3d_forward"

pytestmark = pytest.mark.skipif(
    not torch.backends.mkldnn.is_available(), reason="this torch has no oneDNN"
)


def operations(call):
    with torch.inference_mode(), torch.profiler.profile() as profile:
        call()
    return {event.key for event in profile.key_averages()}


@pytest.mark.parametrize(
    "options",
    [
        {"kernel_size": 3, "padding": 1},
        {"kernel_size": 3, "padding": (1, 0, 2), "stride": (2, 1, 2), "bias": False},
        {"kernel_size": 1},
        {"kernel_size": 3, "dilation": (1, 2, 1), "groups": 2},
        {"kernel_size": 3, "padding": "same"},
        {"kernel_size": 3, "padding": 1, "padding_mode": "reflect"},
    ],
)
def test_a_convolution_gives_the_same_numbers(options):
    torch.manual_seed(0)
    layer = nn.Conv3d(4, 6, **options).eval()
    image = torch.randn(1, 4, 7, 8, 9)
    with torch.inference_mode():
        expected = layer(image)
        with fast_convolutions(image):
            found = layer(image)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


def test_no_window_takes_the_slow_way():
    layer, image = nn.Conv3d(1, 4, 3, padding=1), torch.randn(1, 12, 9, 8)
    # What the file is for: without it, torch takes the slow way for one window.
    assert SLOW in operations(lambda: layer(image[None]))
    assert SLOW not in operations(lambda: sliding_window_logits(layer, image, (8, 8, 8)))


@pytest.mark.parametrize("shape", [(2, 1, 8, 8, 8), (1, 1, 8, 8)])
def test_other_windows_are_left_alone(shape):
    image = torch.randn(shape)
    layer = nn.Conv3d(1, 2, 3) if image.ndim == 5 else nn.Conv2d(1, 2, 3)
    with torch.inference_mode():
        expected = layer(image)
        with fast_convolutions(image):
            assert torch.equal(layer(image), expected)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_other_types_are_left_alone(dtype):
    layer, image = nn.Conv3d(1, 2, 3).to(dtype), torch.randn(1, 1, 8, 8, 8, dtype=dtype)
    with torch.inference_mode(), fast_convolutions(image):
        assert layer(image).dtype == dtype


def test_autocast_is_left_alone():
    layer, image = nn.Conv3d(1, 2, 3), torch.randn(1, 1, 8, 8, 8)
    with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16), fast_convolutions(image):
        assert layer(image).dtype == torch.bfloat16
