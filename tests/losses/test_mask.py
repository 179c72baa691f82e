"""A mask leaves out what ignore_index leaves out, in every loss that takes one."""

import pytest
import torch
from torch import nn

from gradsurge import LOSSES, DeepSupervision, make_loss
from gradsurge.losses import ACE, NACL, SVLS, CrossEntropy, Dice, DicePlusPlus, WeightedSum
from tests.losses.composed import make_batch, value_and_gradient
from tests.properties.asserts import assert_no_field_at

SOFTMAX_ONLY = [n for n in LOSSES if n.startswith(("svls", "nacl"))]
MASKABLE = [n for n in LOSSES if n not in SOFTMAX_ONLY]


def leave_out(data):
    """The same voxels, marked in the target instead."""
    axis = slice(None) if data.target.ndim == data.logits.ndim else 0
    return data.target.long().masked_fill(~data.mask[:, axis], 255)


@pytest.mark.parametrize("name", [*MASKABLE, "ace"])
@pytest.mark.parametrize("kind", ["two", "three", "sigmoid"])
def test_a_mask_is_worth_an_ignore_index(name, kind):
    data = make_batch(kind, "masked")
    make = ACE if name == "ace" else lambda **options: make_loss(name, **options)
    activation = "sigmoid" if kind == "sigmoid" else "softmax"
    loss, ignoring = make(activation=activation), make(activation=activation, ignore_index=255)
    found = value_and_gradient(loss, data.logits, data.target, data.mask)
    torch.testing.assert_close(
        found, value_and_gradient(ignoring, data.logits, leave_out(data)), rtol=1e-10, atol=1e-12
    )
    assert_no_field_at(found[1], ~data.mask[:, 0])
    everywhere = value_and_gradient(loss, data.logits, data.target)
    assert not torch.allclose(found[1], everywhere[1])
    for same in (data.mask[:, 0], data.mask.to(torch.uint8), data.mask.double()):
        again = value_and_gradient(loss, data.logits, data.target, same)
        torch.testing.assert_close(again, found)


@pytest.mark.parametrize("cls", [CrossEntropy, DicePlusPlus, ACE])
@pytest.mark.parametrize("kind", ["three", "sigmoid"])
def test_mask_and_ignore_index_together(cls, kind):
    data = make_batch(kind, "masked")
    activation = "sigmoid" if kind == "sigmoid" else "softmax"
    loss = cls(activation=activation, ignore_index=255)
    target = data.target.long()
    target[:, ..., 0] = 255
    both = leave_out(data).masked_fill(target == 255, 255)
    found = value_and_gradient(loss, data.logits, target, data.mask)
    torch.testing.assert_close(found, value_and_gradient(loss, data.logits, both))


@pytest.mark.parametrize("weights", [None, [0.5, 2.0]])
def test_a_mask_beside_soft_labels(weights):
    data = make_batch("two", "soft")
    mask = make_batch("two", "masked").mask
    nll = -(data.target * data.logits.log_softmax(1))
    w = data.logits.new_tensor([1.0, 1.0] if weights is None else weights).view(1, 2, 1, 1)
    expected = (w * nll * mask).sum() / (w * data.target * mask).sum()
    loss = CrossEntropy(class_weights=weights)
    torch.testing.assert_close(loss(data.logits, data.target, mask), expected)


@pytest.mark.parametrize("cls", [CrossEntropy, DicePlusPlus, ACE])
def test_a_mask_a_channel(cls):
    data = make_batch("sigmoid")
    mask = torch.rand(data.logits.shape, generator=torch.Generator().manual_seed(2)) > 0.4
    target = data.target.long().masked_fill(~mask, 255)
    loss, ignoring = cls(activation="sigmoid"), cls(activation="sigmoid", ignore_index=255)
    found = value_and_gradient(loss, data.logits, data.target, mask)
    torch.testing.assert_close(found, value_and_gradient(ignoring, data.logits, target))
    with pytest.raises(ValueError, match="mask: softmax needs one value a voxel"):
        cls()(data.logits, data.target.long()[:, 0], mask)


@pytest.mark.parametrize("cls", [CrossEntropy, DicePlusPlus, ACE])
@pytest.mark.parametrize("activation", ["softmax", "sigmoid"])
def test_nothing_counts(cls, activation):
    data = make_batch("sigmoid")
    target = data.target.long()[:, 0] if activation == "softmax" else data.target
    nothing = torch.zeros(3, 4, 5, dtype=torch.bool)
    value, field = value_and_gradient(cls(activation=activation), data.logits, target, nothing)
    assert value == 0
    assert (field == 0).all()
    with pytest.raises(ValueError, match=r"mask: .*got \(3, 4\)"):
        cls(activation=activation)(data.logits, target, nothing[..., 0])


@pytest.mark.parametrize("cls", [CrossEntropy, DicePlusPlus, ACE, Dice])
@pytest.mark.parametrize("kind", ["three", "sigmoid"])
def test_compiles_into_one_graph_whatever_the_size(cls, kind):
    torch._dynamo.reset()
    data = make_batch(kind, "masked")
    loss = cls(activation="sigmoid" if kind == "sigmoid" else "softmax")
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    compiled(data.logits[:2], data.target[:2])
    for n, rows in ((3, 4), (2, 3), (3, 2)):  # from the second size on, torch compiles for any
        tensors = data.logits, data.target, data.mask
        args = [t[:n, ..., :rows, :].contiguous() for t in tensors]
        torch.testing.assert_close(compiled(*args), loss(*args))


# --- losses that hold others -------------------------------------------------------------------


@pytest.mark.parametrize("name", ["svls+dice", "nacl+dice"])
def test_a_sum_names_the_term_without_a_mask(name):
    data = make_batch("two", "masked")
    with pytest.raises(TypeError, match=r"mask: (SVLS|NACL) takes no mask; use ignore_index"):
        make_loss(name)(data.logits, data.target, data.mask)
    swapped = WeightedSum(Dice(), SVLS() if "svls" in name else NACL())
    with pytest.raises(TypeError, match=r"mask: (SVLS|NACL) takes no mask; use ignore_index"):
        swapped(data.logits, data.target, mask=data.mask)


class TakesAnything(nn.Module):
    def forward(self, logits, target, **options):
        return logits.sum() * options.get("mask", torch.ones(())).sum()


def test_terms_get_a_mask_only_when_there_is_one():
    class Plain(nn.Module):
        def forward(self, logits, target):
            return logits.sum()

    data = make_batch("two", "masked")
    assert WeightedSum(Plain(), Plain())(data.logits, data.target).isfinite()
    with pytest.raises(TypeError, match="mask: Plain takes no mask"):
        WeightedSum(Plain(), TakesAnything())(data.logits, data.target, data.mask)
    found = WeightedSum(TakesAnything(), TakesAnything())(data.logits, data.target, data.mask)
    torch.testing.assert_close(found, 2 * data.logits.sum() * data.mask.sum())


@pytest.mark.parametrize("name", ["ace+dice", "ce+dice-surgery", "ce"])
def test_deep_supervision_brings_a_mask_to_every_level(name):
    data = make_batch("two", "masked")
    coarse = data.logits[..., ::2, ::2].clone()
    # Nearest neighbour: 4 -> 2 takes rows 1 and 3, 5 -> 3 takes columns 0, 2 and 4.
    target, mask = data.target[:, 1::2, ::2], data.mask[..., 1::2, ::2]
    parts = (
        make_loss(name)(data.logits, data.target, data.mask),
        make_loss(name)(coarse, target, mask),
    )
    expected = (2 * parts[0] + parts[1]) / 3
    loss = DeepSupervision(make_loss(name), levels=2)
    torch.testing.assert_close(loss([data.logits, coarse], data.target, data.mask), expected)
    each = loss([data.logits, coarse], [data.target, target], mask=[data.mask, mask])
    torch.testing.assert_close(each, expected)
    with pytest.raises(ValueError, match="mask: expected one tensor or 2, got 1"):
        loss([data.logits, coarse], data.target, [data.mask])
    with pytest.raises(ValueError, match=r"mask: for logits \(3, 2, 4, 5\)"):
        loss([data.logits, coarse], data.target, mask)


def test_deep_supervision_names_a_loss_without_a_mask():
    data = make_batch("two", "masked")
    with pytest.raises(TypeError, match="mask: SVLS takes no mask; use ignore_index"):
        DeepSupervision(SVLS(), levels=1)([data.logits], data.target, data.mask)


@pytest.mark.parametrize("name", [*MASKABLE, "ace"])
@pytest.mark.parametrize("kind", ["two", "three", "sigmoid"])
def test_nan_in_a_mask_is_refused(name, kind):
    """NaN is not 0, so such a voxel would have counted."""
    data = make_batch(kind, "masked")
    make = ACE if name == "ace" else lambda **options: make_loss(name, **options)
    loss = make(activation="sigmoid" if kind == "sigmoid" else "softmax")
    mask = data.mask.double()
    mask[..., 0] = float("nan")
    with pytest.raises(ValueError, match=r"mask: expected 0 where .* got NaN"):
        loss(data.logits, data.target, mask)
