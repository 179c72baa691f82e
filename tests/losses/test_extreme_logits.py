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
    loss = gs.make_loss("ce+dice-surgery", normalise=True, ignore_index=255)
    x = z.clone().requires_grad_()
    value = loss(x, y)
    value.backward()
    assert value.item() == pytest.approx(loss(z[:, :, 1:], y[:, 1:]).item(), rel=1e-5)
    assert x.grad[:, :, 0].abs().sum() == 0
    assert x.grad.isfinite().all()


@pytest.mark.parametrize("voxels", [1, 3])
@pytest.mark.parametrize("true", [0, 1])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_true_class_that_is_ruled_out_costs_infinity(classes, true, voxels):
    z = torch.randn(1, classes, 4)
    z[0, true, :voxels] = -INF
    y = torch.full((1, 4), true)
    y[0, 3] = 1 - true
    assert gs.make_loss("ce")(z, y).item() == INF
    for name in ("ce+dice", "ce+dice-surgery"):
        assert gs.make_loss(name)(z, y).item() == INF
        one_hot = torch.nn.functional.one_hot(y, classes).movedim(-1, 1).float()
        assert gs.make_loss(name)(z, one_hot).item() == INF


def test_a_share_of_a_class_that_is_ruled_out_costs_infinity():
    z, share = torch.zeros(1, 2, 4), torch.tensor([[[0.999, 1.0, 0.5, 0.0]]])
    z[0, 1, 0] = -INF
    target = torch.cat((share, 1 - share), dim=1)
    assert gs.make_loss("ce")(z, target).item() == INF
    assert gs.make_loss("ce+dice")(z, target).item() == INF
    z[0, 1, :2] = z[0, 1, :2].flip(0)  # where nothing of it is, it costs nothing
    expected = gs.make_loss("ce")(z, target).item()
    assert gs.make_loss("ce+dice", weights=(1.0, 0.0))(z, target).item() == pytest.approx(expected)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", gs.losses.LOSSES)
@pytest.mark.parametrize(
    ("value", "says"), [(INF, r"\+inf, 1 times"), (float("nan"), "NaN, 1 times")]
)
def test_what_is_no_logit_is_refused_by_every_loss_in_the_same_words(name, value, says, classes):
    y = torch.tensor([[[0, 1], [1, 0]]])
    for c in range(classes):
        z = torch.zeros(1, classes, 2, 2)
        z[0, c, 0, 1] = value
        with pytest.raises(ValueError, match=f"logits: expected finite numbers, got {says} in sha"):
            gs.make_loss(name)(z, y)


@pytest.mark.parametrize("name", ["dice", "dice-surgery", "ce+dice-surgery"])
def test_a_class_that_is_ruled_out_is_no_fault(name):
    z, y = torch.zeros(1, 2, 4, requires_grad=True), torch.tensor([[0, 1, 1, 0]])
    ruled_out = torch.tensor([[[0, 1, 0, 0], [1, 0, 0, 0]]], dtype=torch.bool)
    options = {"normalise": True} if name.endswith("-surgery") else {}
    loss = gs.make_loss(name, **options)(z.masked_fill(ruled_out, -INF), y)
    loss.backward()
    certain = gs.make_loss(name, **options)(z.detach().masked_fill(ruled_out, -90.0), y)
    assert loss.item() == pytest.approx(certain.item(), abs=1e-7)
    assert z.grad.isfinite().all()


def test_an_unchecked_255_counts_as_background():
    z, y = torch.randn(1, 2, 4), torch.tensor([[255, 0, 1, 1]])
    as_background = gs.make_loss("dice")(z, y.masked_fill(y == 255, 0))
    assert gs.make_loss("dice", check=False)(z, y).equal(as_background)


def test_a_fully_ignored_sample_has_no_gradient():
    x = torch.randn(2, 2, 4, requires_grad=True)
    y = torch.tensor([[255] * 4, [0, 1, 1, 0]])
    gs.make_loss("ce+dice-surgery", normalise=True, ignore_index=255)(x, y).backward()
    assert x.grad[0].abs().sum() == 0
    assert x.grad.isfinite().all()
