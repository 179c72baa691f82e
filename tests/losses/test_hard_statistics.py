"""The option to take the global terms of the field at the thresholded mask."""

import pytest
import torch
import torch.nn.functional as F

from gradsurge import make_loss
from gradsurge.losses import Dice, Jaccard, Tversky
from gradsurge.surgery import SurgeryRule
from tests.losses.composed import make_batch, value_and_gradient
from tests.properties.formulas import multiclass_field, normalisation_of, sigmoid_field

EPS = 1e-5


def dice_slopes(i, p, y):
    """dL/dI and dL/dP of one class's Dice loss."""
    return -2 / (p + y + EPS), (2 * i + EPS) / (p + y + EPS) ** 2


def tversky_slopes(i, p, y, a=0.3, b=0.7):
    size = i + a * (p - i) + b * (y - i) + EPS
    return -1 / size + (i + EPS) * (1 - a - b) / size**2, (i + EPS) * a / size**2


def jaccard_slopes(i, p, y):
    union = p + y - i + EPS
    return -1 / union - (i + EPS) / union**2, (i + EPS) / union**2


LOSSES = {
    "dice": (Dice, {}, dice_slopes),
    "tversky": (Tversky, {"a": 0.3}, tversky_slopes),
    "jaccard": (Jaccard, {}, jaccard_slopes),
}


def expected_g(batch, hard, slopes, over_batch, first):
    """Return dL/dp at the sums of the hard mask, (N, C, *S)."""
    y = batch.channels
    sums = [(hard * y).flatten(2).sum(-1), hard.flatten(2).sum(-1), y.flatten(2).sum(-1)]
    sums = [s.sum(0, keepdim=True) if over_batch else s for s in sums]
    of_i, of_p = (s[..., None, None] for s in slopes(*sums))
    g = (of_p + y * of_i) / (sums[0].shape[0] * (y.shape[1] - first))
    g[:, :first] = 0
    return g


@pytest.mark.parametrize("name", list(LOSSES))
@pytest.mark.parametrize("kind", ["two", "three", "sigmoid"])
@pytest.mark.parametrize("over_batch", [False, True])
def test_the_field_is_the_closed_form_with_hard_sums(name, kind, over_batch):
    batch = make_batch(kind)
    cls, own, slopes = LOSSES[name]
    z, activation = batch.logits, "sigmoid" if kind == "sigmoid" else "softmax"
    options = {"activation": activation, "batch": over_batch, **own}
    normalise = name != "tversky"
    rule = SurgeryRule(20.0, 0.25, normalise=normalise)
    loss = cls(surgery=rule, hard_statistics=True, **options)
    value, field = value_and_gradient(loss, z, batch.target)
    if kind == "sigmoid":
        hard, first = (z > 0).double(), 0
    else:
        hard, first = F.one_hot(z.argmax(1), z.shape[1]).movedim(-1, 1).double(), 1
    g = expected_g(batch, hard, slopes, over_batch, first)
    whole = "batch" if normalise and over_batch else normalise
    p = (z.sigmoid() if kind == "sigmoid" else z.softmax(1)).flatten(2).sum(2)
    sums = [x.flatten(2).sum(2) for x in (hard, batch.channels)]
    some = sum(sums) > 0
    if over_batch:
        some = some.any(0, keepdim=True)
    sums[0] = torch.where(some, sums[0], p)
    g = g * normalisation_of(hard, hard, whole, softmax=kind != "sigmoid", sums=tuple(sums))
    if kind == "sigmoid":
        expected = sigmoid_field(z, batch.channels, g, 20.0, 0.25)
    else:
        expected = multiclass_field(z, batch.target, g, 20.0, 0.25)
    torch.testing.assert_close(field, expected, rtol=1e-9, atol=1e-14)
    torch.testing.assert_close(value, cls(**options)(z, batch.target))
    soft = cls(surgery=rule, **options)
    assert not torch.allclose(field, value_and_gradient(soft, z, batch.target)[1])


@pytest.mark.parametrize("classes", [2, 3])
def test_nothing_there_and_nothing_predicted_falls_back_to_soft_sums(classes):
    # The hard score would be eps / eps with a slope of 1 / eps.
    z = torch.randn(1, classes, 5, 4, dtype=torch.float64)
    z[:, 0] += 9.0
    target = torch.zeros(1, 5, 4, dtype=torch.int64)
    soft = Dice(surgery=SurgeryRule())
    hard = Dice(surgery=SurgeryRule(), hard_statistics=True)
    expected = value_and_gradient(soft, z, target)
    found = value_and_gradient(hard, z, target)
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("normalise", [False, True])
def test_only_the_classes_with_nothing_fall_back(normalise):
    z = torch.randn(1, 3, 5, 4, dtype=torch.float64)
    z[:, 2] -= 20.0
    target = torch.randint(0, 2, (1, 5, 4))
    hard = Dice(surgery=SurgeryRule(20.0, 0.25, normalise=normalise), hard_statistics=True)
    _, field = value_and_gradient(hard, z, target)
    y = F.one_hot(target, 3).movedim(-1, 1).double()
    p, mask = z.softmax(1), F.one_hot(z.argmax(1), 3).movedim(-1, 1).double()
    mask[:, 2] = p[:, 2]
    sums = [(mask * y).flatten(2).sum(-1), mask.flatten(2).sum(-1), y.flatten(2).sum(-1)]
    of_i, of_p = (s[..., None, None] for s in dice_slopes(*sums))
    g = (of_p + y * of_i) / 2
    g[:, 0] = 0
    g = g * normalisation_of(mask, y, normalise, softmax=True)
    torch.testing.assert_close(field, multiclass_field(z, target, g, 20.0, 0.25))


def test_a_tie_goes_to_the_first_class_as_in_argmax():
    # Zero logits, as of a freshly initialised head: everything is background.
    for classes in (2, 3):
        z, target = torch.zeros(1, classes, 6), torch.tensor([[0, 0, 0, 1, 1, 1]])
        loss = Dice(surgery=SurgeryRule(), hard_statistics=True)
        _, found = value_and_gradient(loss, z, target)
        z[:, 0] = 1e-6  # background by a hair
        _, expected = value_and_gradient(loss, z, target)
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-8)


def test_masked_voxels_are_in_no_sum():
    batch = make_batch("three", "masked")
    kept = batch.mask[0, 0].flatten()
    loss = make_loss("ce+dice-surgery", hard_statistics=True)
    z = batch.logits[:1]
    _, masked = value_and_gradient(loss, z, batch.target[:1], batch.mask[:1])
    flat = z.flatten(2)[..., kept]
    _, cut = value_and_gradient(loss, flat, batch.target[:1].flatten(1)[:, kept])
    torch.testing.assert_close(masked.flatten(2)[..., kept], cut)
