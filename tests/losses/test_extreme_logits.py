"""Classes that are ruled out (-inf), infinite logits, labels nobody checked."""

import pytest
import torch

import gradsurge as gs

INF = float("inf")


@pytest.mark.parametrize("classes", [2, 3])
def test_an_ignored_voxel_may_say_anything(classes):
    z = torch.randn(1, classes, 4)
    z[0, 0, 0] = -INF
    y = torch.tensor([[255, 0, 1, 1]])
    loss = gs.make_loss("ce+dice-surgery", ignore_index=255)
    x = z.clone().requires_grad_()
    value = loss(x, y)
    value.backward()
    assert value.item() == pytest.approx(loss(z[:, :, 1:], y[:, 1:]).item(), rel=1e-5)
    assert x.grad[:, :, 0].abs().sum() == 0
    assert x.grad.isfinite().all()


@pytest.mark.parametrize("classes", [2, 3])
def test_a_true_class_that_is_ruled_out_costs_as_good_as_infinity(classes):
    z = torch.randn(1, classes, 4)
    z[0, 0, 0] = -INF
    y = torch.zeros(1, 4).long()
    assert gs.make_loss("ce+dice")(z, y).item() > 1e37
    assert torch.nn.functional.cross_entropy(z, y).item() == INF


@pytest.mark.parametrize("name", ["dice-surgery", "ce+dice-surgery"])
def test_positive_infinity_is_named(name):
    z = torch.randn(1, 2, 4)
    z[0, :, 1] = INF
    with pytest.raises(ValueError, match=r"logits: expected finite numbers, got \+inf, 2 times"):
        gs.make_loss(name)(z, torch.zeros(1, 4).long())


def test_an_unchecked_255_counts_as_background():
    z, y = torch.randn(1, 2, 4), torch.tensor([[255, 0, 1, 1]])
    as_background = gs.make_loss("dice")(z, y.masked_fill(y == 255, 0))
    assert gs.make_loss("dice", check=False)(z, y).equal(as_background)


def test_a_fully_ignored_sample_has_no_gradient():
    x = torch.randn(2, 2, 4, requires_grad=True)
    y = torch.tensor([[255] * 4, [0, 1, 1, 0]])
    gs.make_loss("ce+dice-surgery", ignore_index=255)(x, y).backward()
    assert x.grad[0].abs().sum() == 0
    assert x.grad.isfinite().all()
