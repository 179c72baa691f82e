"""Memory layouts: the same gradient, and channels-last stays channels-last."""

import pytest
import torch
import torch.nn.functional as F

from gradsurge import make_loss, surgery_sigmoid, surgery_softmax

CLASSES = [2, 3]
LAST = {2: torch.channels_last, 3: torch.channels_last_3d}


def batch(classes, spatial):
    r = torch.Generator().manual_seed(0)
    logits = torch.randn(2, classes, *spatial, generator=r, dtype=torch.float64)
    return logits, torch.randint(0, classes, (2, *spatial), generator=r)


def operator_loss(z, target):
    return (
        surgery_softmax(z, target, normalise=True) * torch.linspace(0, 1, z.numel()).view(z.shape)
    ).sum()


def sigmoid_loss(z, target):
    hot = F.one_hot(target, z.shape[1]).movedim(-1, 1)
    p = surgery_sigmoid(z, hot, normalise=True)
    return (p * torch.linspace(0, 1, z.numel()).view(z.shape)).sum()


def fused_loss(z, target):
    return make_loss("ce+dice-surgery", normalise=True)(z, target)


SOURCES = [operator_loss, sigmoid_loss, fused_loss]


def gradient(source, logits, target):
    z = logits.detach().requires_grad_()
    return torch.autograd.grad(source(z, target), z)[0]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("classes", CLASSES)
@pytest.mark.parametrize("spatial", [(4, 5), (3, 4, 2)])
def test_channels_last_is_kept(source, classes, spatial):
    logits, target = batch(classes, spatial)
    layout = LAST[len(spatial)]
    found = gradient(source, logits.to(memory_format=layout), target)
    torch.testing.assert_close(found, gradient(source, logits, target))
    assert found.is_contiguous(memory_format=layout)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("classes", CLASSES)
def test_views_of_larger_or_permuted_tensors(source, classes):
    logits, target = batch(classes, (4, 6))
    expected = gradient(source, logits, target)
    every_second = torch.zeros(2, classes, 8, 12, dtype=torch.float64)[:, :, ::2, ::2]
    every_second.copy_(logits)
    transposed = logits.transpose(2, 3).contiguous().transpose(2, 3)
    reversed_storage = logits.permute(3, 2, 1, 0).contiguous().permute(3, 2, 1, 0)
    more_channels = torch.cat((logits, logits), dim=1)[:, :classes]
    for view in (every_second, transposed, reversed_storage, more_channels):
        assert not view.is_contiguous()
        torch.testing.assert_close(gradient(source, view, target), expected)
    strided_target = torch.stack((target, target), dim=-1)[..., 0]
    torch.testing.assert_close(gradient(source, logits, strided_target), expected)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("classes", CLASSES)
def test_expanded_logits_collect_the_gradient_of_every_use(source, classes):
    logits, target = batch(classes, (4, 6))
    row = logits[:1, :, :1].clone().requires_grad_()
    value = source(row.expand(2, -1, 4, -1), target)
    (found,) = torch.autograd.grad(value, row)
    full = row.detach().expand(2, -1, 4, -1).contiguous()
    expected = gradient(source, full, target).sum(dim=(0, 2), keepdim=True)
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("classes", CLASSES)
def test_expanded_and_strided_incoming_gradients(classes):
    logits, target = batch(classes, (4, 6))
    for g in (
        torch.ones(1, dtype=torch.float64).expand_as(logits)
        * torch.arange(classes).view(1, -1, 1, 1),
        torch.arange(classes, dtype=torch.float64).view(1, -1, 1, 1).expand_as(logits),
        torch.randn(2, 4, 6, classes, dtype=torch.float64).movedim(-1, 1),
    ):
        z = logits.clone().requires_grad_()
        (found,) = torch.autograd.grad(surgery_softmax(z, target), z, g)
        z = logits.clone().requires_grad_()
        (expected,) = torch.autograd.grad(surgery_softmax(z, target), z, g.contiguous().clone())
        assert torch.equal(found, expected)


@pytest.mark.parametrize("spatial", [(1,), (1, 1), (1, 1, 1)])
@pytest.mark.parametrize("source", SOURCES)
def test_a_single_voxel(source, spatial):
    logits, target = batch(3, spatial)
    flat = gradient(source, logits.flatten(2), target.flatten(1))
    assert torch.equal(gradient(source, logits, target).flatten(2), flat)
