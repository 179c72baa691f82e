"""CE + region loss: fused against composed, torch, and MONAI's DiceCELoss."""

from functools import partial

import pytest
import torch
import torch.nn.functional as F
from monai.losses import DiceCELoss

from gradsurge import Dice, SurgeryRule, WithCrossEntropy
from tests.losses.composed import (
    REGION,
    composed_cross_entropy,
    composed_loss,
    make_batch,
    value_and_gradient,
)
from tests.properties.asserts import assert_sums_to_zero

KINDS_AND_LABELS = [
    (kind, labels)
    for kind in ("two", "three", "sigmoid")
    for labels in ("hard", "soft", "masked", "ignored")
    if (kind, labels) != ("three", "soft")
]
RULES = (  # and how much of it
    (None, 1.0),
    (SurgeryRule(20.0, 0.25, normalise=False), 1.0),
    (SurgeryRule(None, 0.5, normalise=True), 0.4),
)
WEIGHTS = {"two": [0.5, 2.0], "three": [0.5, 2.0, 1.25], "sigmoid": [0.5, 2.0]}


@pytest.mark.parametrize("name", list(REGION))
@pytest.mark.parametrize(("kind", "labels"), KINDS_AND_LABELS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("over_batch", [False, True])
def test_fused_is_composed(name, kind, labels, weighted, over_batch):
    batch = make_batch(kind, labels)
    activation = "sigmoid" if kind == "sigmoid" else "softmax"
    class_weights = WEIGHTS[kind] if weighted else None
    cls, own, _ = REGION[name]
    for rule, blend in RULES:
        loss = WithCrossEntropy(
            cls(
                activation=activation,
                surgery=rule,
                batch=over_batch,
                class_weights=class_weights,
                ignore_index=batch.ignore_index,
                **own,
            ),
            weights=(0.7, 1.5),
        )
        if rule is not None:
            loss.blend = blend

        def composed(z, rule=rule, blend=blend):
            common = {"activation": activation, "class_weights": class_weights}
            region = composed_loss(
                z, batch, name, surgery=rule, blend=blend, over_batch=over_batch, **common
            )
            return 0.7 * composed_cross_entropy(z, batch, **common) + 1.5 * region

        found = value_and_gradient(loss, batch.logits, batch.target, batch.mask)
        expected = value_and_gradient(composed, batch.logits)
        torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("kind", ["two", "three"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_cross_entropy_part_is_torchs(kind, weighted):
    batch = make_batch(kind, "ignored")
    weights = WEIGHTS[kind] if weighted else None
    for rule in (None, SurgeryRule()):
        region = Dice(ignore_index=255, class_weights=weights, surgery=rule)
        ours = WithCrossEntropy(region, weights=(1.0, 0.0))
        tensor = None if weights is None else torch.tensor(weights, dtype=torch.float64)
        found = value_and_gradient(ours, batch.logits, batch.target)
        theirs = partial(F.cross_entropy, weight=tensor, ignore_index=255)
        expected = value_and_gradient(theirs, batch.logits, batch.target)
        torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-15)


def test_the_binary_cross_entropy_part_is_torchs():
    for labels in ("hard", "soft"):
        batch = make_batch("sigmoid", labels)
        ours = WithCrossEntropy(Dice(activation="sigmoid"), weights=(1.0, 0.0))
        found = value_and_gradient(ours, batch.logits, batch.target)
        theirs = F.binary_cross_entropy_with_logits
        expected = value_and_gradient(theirs, batch.logits, batch.channels)
        torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("kind", ["two", "three"])
def test_without_surgery_equal_to_monai(kind):
    batch = make_batch(kind)
    theirs = DiceCELoss(
        softmax=True, include_background=False, lambda_ce=0.5, lambda_dice=0.5, batch=True
    )
    ours = WithCrossEntropy(Dice(batch=True), weights=(0.5, 0.5))
    found = value_and_gradient(ours, batch.logits, batch.target)
    expected = value_and_gradient(theirs, batch.logits, batch.channels)
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("kind", ["two", "three"])
def test_only_the_region_part_is_operated_on(kind):
    batch = make_batch(kind)
    options = {"ignore_index": None}

    def gradient(rule, weights):
        loss = WithCrossEntropy(Dice(surgery=rule, **options), weights)
        return value_and_gradient(loss, batch.logits, batch.target)[1]

    operated = gradient(SurgeryRule(), (0.5, 0.5))
    torch.testing.assert_close(
        operated, gradient(None, (0.5, 0.0)) + gradient(SurgeryRule(), (0.0, 0.5))
    )
    assert_sums_to_zero(operated)


@pytest.mark.parametrize(("kind", "labels"), KINDS_AND_LABELS)
def test_gradcheck_without_surgery(kind, labels):
    batch = make_batch(kind, labels)
    activation = "sigmoid" if kind == "sigmoid" else "softmax"
    loss = WithCrossEntropy(Dice(activation=activation, ignore_index=batch.ignore_index))
    z = batch.logits[:2, :, :2].clone().requires_grad_()
    mask = None if batch.mask is None else batch.mask[:2, :, :2]
    y = batch.target[..., :2, :][:2]
    assert torch.autograd.gradcheck(lambda z: loss(z, y, mask), (z,))


def test_confident_logits_keep_their_likelihood_in_float32():
    # -log p of a voxel 60 logits on the wrong side is 60, not the log of a rounded 0.
    for classes in (2, 3):
        z = torch.zeros(1, classes, 2)
        z[0, 1, 0] = z[0, 0, 1] = 60.0
        target = torch.tensor([[0, 0]])
        value = WithCrossEntropy(Dice(), (1.0, 0.0))(z, target)
        expected = F.cross_entropy(z.double(), target)
        assert value.item() == pytest.approx(expected.item(), rel=1e-6)


def test_a_class_ruled_out_by_minus_infinity_does_not_spoil_the_others():
    batch = make_batch("three")
    target = batch.target.clamp(max=1)
    logits = batch.logits.clone()
    logits[:, 2] = -torch.inf
    loss = WithCrossEntropy(Dice(surgery=SurgeryRule()), (1.0, 1.0))
    two = WithCrossEntropy(Dice(surgery=SurgeryRule()), (1.0, 1.0))
    value, gradient = value_and_gradient(loss, logits, target)
    assert bool(value.isfinite())
    ce = WithCrossEntropy(Dice(), (1.0, 0.0))
    torch.testing.assert_close(ce(logits, target), F.cross_entropy(logits, target))
    # Both foreground classes are averaged; the absent one scores a perfect 0 loss.
    _, of_two = value_and_gradient(two, logits[:, :2], target)
    ce_part = value_and_gradient(ce, logits[:, :2], target)[1]
    torch.testing.assert_close(gradient[:, :2] - ce_part, (of_two - ce_part) / 2)


def test_everything_ignored_counts_as_nothing():
    z = torch.randn(2, 3, 6)
    target = torch.full((2, 6), 255)
    loss = WithCrossEntropy(Dice(surgery=SurgeryRule(), ignore_index=255))
    value, gradient = value_and_gradient(loss, z, target)
    assert value == 0
    assert torch.equal(gradient, torch.zeros_like(gradient))


@pytest.mark.parametrize("weights", [(1.0,), (1.0, -1.0), (1.0, torch.nan), (1.0, 1.0, 1.0)])
def test_weights_that_make_no_sense(weights):
    with pytest.raises(ValueError, match="weights: expected"):
        WithCrossEntropy(Dice(), weights)
