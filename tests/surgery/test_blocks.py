"""The batch is walked through in pieces: any piece size gives the same result."""

import pytest
import torch
import torch.nn.functional as F

from gradsurge import make_loss, surgery_sigmoid, surgery_softmax
from gradsurge.surgery import blocks as module
from gradsurge.surgery.blocks import blocks

SIZES = [1, 7, 20, 64]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("samples", [1, 3])
@pytest.mark.parametrize("voxels", [1, 7, 13, 50])
@pytest.mark.parametrize("channels", [1, 3])
def test_every_voxel_is_covered_once(monkeypatch, size, samples, voxels, channels):
    monkeypatch.setattr(module, "CPU_BLOCK", size)
    seen = torch.zeros(samples, voxels)
    for rows, part in blocks(samples, voxels, torch.device("cpu"), channels):
        seen[rows, part] += 1
        assert seen[rows, part].numel() * channels <= max(size, channels)
    assert torch.equal(seen, torch.ones_like(seen))


def run(name, logits, target, mask):
    z = logits.clone().requires_grad_()
    if name == "softmax":
        value = surgery_softmax(z, target, normalise=True, mask=mask).square().sum()
    elif name == "sigmoid":
        hot = F.one_hot(target, z.shape[1]).movedim(-1, 1)
        value = surgery_sigmoid(z, hot, normalise="batch", mask=mask).square().sum()
    else:
        normalise = name == "dice-surgery"
        value = make_loss(name, hard_statistics=True, normalise=normalise)(z, target, mask)
    value.backward()
    return value.detach(), z.grad


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", ["softmax", "sigmoid", "dice-surgery", "ce+tversky-surgery"])
@pytest.mark.parametrize("masked", [False, True])
def test_small_pieces_change_nothing(monkeypatch, size, classes, name, masked):
    r = torch.Generator().manual_seed(0)
    logits = torch.randn(3, classes, 5, 7, generator=r, dtype=torch.float64)
    target = torch.randint(0, classes, (3, 5, 7), generator=r)
    mask = torch.rand(3, 5, 7, generator=r) > 0.3 if masked else None
    expected = run(name, logits, target, mask)
    monkeypatch.setattr(module, "CPU_BLOCK", size)
    found = run(name, logits, target, mask)
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-15)


def test_the_measured_equilibrium_does_not_depend_on_the_pieces(monkeypatch):
    r = torch.Generator().manual_seed(0)
    logits = torch.randn(3, 3, 5, 7, generator=r, dtype=torch.float64, requires_grad=True)
    target = torch.randint(0, 3, (3, 5, 7), generator=r)
    shifts = []
    for size in (1 << 18, 7):
        monkeypatch.setattr(module, "CPU_BLOCK", size)
        loss = make_loss("ce+dice-surgery")
        loss(logits, target).backward()
        shifts.append(loss.equilibrium_shift())
    torch.testing.assert_close(shifts[0], shifts[1])
