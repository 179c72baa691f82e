import pytest
import torch

from gradsurge.training import make_fabric


def test_one_process_on_the_cpu(fabric):
    assert (fabric.world_size, fabric.device.type) == (1, "cpu")


@pytest.mark.parametrize("device", ["gpu", "cuda:x", "tpu", ""])
def test_strange_devices(device):
    with pytest.raises(ValueError, match=f"device: expected auto, cpu, .* got '{device}'"):
        make_fabric(device)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
@pytest.mark.parametrize("device", ["cuda", "cuda:1"])
def test_a_device_that_is_not_there(device):
    with pytest.raises(ValueError, match=f"device: this machine has no {device}; use auto or cpu"):
        make_fabric(device)


def test_precisions():
    with pytest.raises(ValueError, match="precision: 16-mixed needs a CUDA device"):
        make_fabric("cpu", "16-mixed")
    with pytest.raises(ValueError, match=r"precision: expected one of .* got '64'"):
        make_fabric("cpu", "64")
    assert make_fabric("cpu", "auto").strategy.precision.precision == "32-true"
    assert make_fabric("cpu", "bf16-mixed").strategy.precision.precision == "bf16-mixed"
