"""The normalisation of the field: dL/dp of a sample and class times κ = (P + Y) / (2 Y)."""

import warnings
from dataclasses import asdict

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from monai.losses import DiceLoss

from gradsurge import Surgery, SurgeryRule, make_loss, surgery_sigmoid, surgery_softmax
from gradsurge.losses import Dice, FocalTversky, GeneralisedDice, Jaccard, Tversky
from tests.losses.batches import gradient
from tests.properties.cases import blends, checked, declines, field_of, scales, softmax_cases
from tests.properties.formulas import (
    multiclass_field,
    plain_softmax_field,
    sigmoid_field,
    soft_binary_field,
)

EPS = 1e-5
REGION = {
    "dice": (Dice, {}),
    "tversky": (Tversky, {"a": 0.3}),
    "jaccard": (Jaccard, {}),
    "generalised-dice": (GeneralisedDice, {}),
    "focal-tversky": (FocalTversky, {"a": 0.3, "gamma": 1.5}),
}
rules = st.builds(SurgeryRule, declines, scales, normalise=st.just(True))


def scores(name, i, p, y):
    """Return the loss of (N, C) sums, or of (N, 1)."""
    if name == "dice":
        return 1 - (2 * i + EPS) / (p + y + EPS)
    if name == "jaccard":
        return 1 - (i + EPS) / (p + y - i + EPS)
    if name == "generalised-dice":
        w = torch.where(y > 0, y**-2, 0.0)
        w = torch.where(y > 0, w, w.amax(1, keepdim=True))
        w = torch.where(w > 0, w, 1.0)
        return 1 - (2 * (w * i).sum(1) + EPS) / ((w * (p + y)).sum(1) + EPS)
    loss = 1 - (i + EPS) / (i + 0.3 * (p - i) + 0.7 * (y - i) + EPS)
    return loss**1.5 if name == "focal-tversky" else loss


def loss_of(name, *, over_batch, first=0):
    """Return a plain function of probabilities and one-hot labels."""

    def loss(p, y):
        over = (*((0,) if over_batch else ()), *range(2, p.ndim))
        sums = [s.sum(over).unflatten(-1, (-1,)) for s in (p * y, p, y)]
        i, size, truth = (s.unsqueeze(0) if over_batch else s for s in sums)
        return scores(name, i[:, first:], size[:, first:], truth[:, first:]).mean()

    return loss


@st.composite
def batches(draw):
    """Logits, target, mask and options of one of the ways to say what counts."""
    kind = draw(st.sampled_from(["two", "three", "five", "sigmoid", "soft"]))
    classes = {"two": 2, "three": 3, "five": 5, "sigmoid": 3, "soft": 2}[kind]
    samples, spatial = draw(st.integers(1, 3)), draw(st.sampled_from([(7,), (3, 4), (2, 3, 2)]))
    r = torch.Generator().manual_seed(draw(st.integers(0, 10_000)))
    z = torch.randn(samples, classes, *spatial, generator=r, dtype=torch.float64) * 3
    rare = draw(st.sampled_from([1.0, 0.3, 0.1]))
    present = torch.rand(samples, *spatial, generator=r) < rare
    target = torch.randint(0, classes, (samples, *spatial), generator=r) * present
    if kind == "sigmoid":
        target = F.one_hot(target, classes).movedim(-1, 1)
    if kind == "soft":
        share = torch.rand(samples, *spatial, generator=r, dtype=torch.float64) * present
        target = torch.stack((1 - share, share), dim=1)
    out = torch.rand(samples, *spatial, generator=r) < draw(st.sampled_from([0.0, 0.3]))
    options, mask = {}, None
    if kind != "soft" and draw(st.booleans()):
        marked = out.unsqueeze(1) if kind == "sigmoid" else out
        target, options = target.masked_fill(marked, 255), {"ignore_index": 255}
    else:
        mask = ~out
    if kind == "sigmoid":
        options["activation"] = "sigmoid"
    return z, target, mask, options


def of(loss, z, target, mask):
    z = z.clone().requires_grad_()
    value = loss(z, target, mask)
    return value.detach(), torch.autograd.grad(value, z)[0]


# --- one field, whichever the way to it ---------------------------------------------------------


@checked
@given(batches(), rules, st.sampled_from(list(REGION)), st.booleans(), blends)
def test_wrapped_equals_fused(case, rule, name, over_batch, blend):
    z, target, mask, options = case
    cls, own = REGION[name]
    fused = cls(surgery=rule, batch=over_batch, include_background=True, **own, **options)
    normalise = "batch" if over_batch else True
    how = {**asdict(rule), "normalise": normalise}
    wrapped = Surgery(loss_of(name, over_batch=over_batch), **how, **options)
    fused.blend = wrapped.blend = blend
    found = of(wrapped, z, target, mask)
    torch.testing.assert_close(found, of(fused, z, target, mask), rtol=1e-8, atol=1e-11)


@checked
@given(batches(), rules, st.booleans(), blends)
def test_the_operators_equal_fused_dice(case, rule, over_batch, blend):
    z, target, mask, options = case
    sigmoid = "activation" in options
    operator = surgery_sigmoid if sigmoid else surgery_softmax
    ignored = options.get("ignore_index")
    how = {**asdict(rule), "normalise": "batch" if over_batch else True, "blend": blend}
    kept = torch.ones_like(z[:, :1], dtype=torch.bool) if mask is None else mask.unsqueeze(1)
    if ignored is not None:
        kept = kept & (target if sigmoid else target.unsqueeze(1)).ne(ignored)
    leaf = z.clone().requires_grad_()
    if sigmoid:  # a mask says it all, one value a channel if need be
        p = operator(leaf, target * kept, mask=kept, **how)
    else:
        p = operator(leaf, target, ignore_index=ignored, mask=mask, **how)
    if target.shape == z.shape:
        y = target.double() * kept
    else:
        y = F.one_hot(target * kept[:, 0], z.shape[1]).movedim(-1, 1) * kept
    first = 0 if sigmoid else 1
    value = loss_of("dice", over_batch=over_batch, first=first)(p * kept, y)
    (found,) = torch.autograd.grad(value, leaf)
    fused = Dice(surgery=rule, batch=over_batch, **options)
    fused.blend = blend
    torch.testing.assert_close(found, of(fused, z, target, mask)[1], rtol=1e-8, atol=1e-11)


@pytest.mark.parametrize("normalise", [True, "batch"])
def test_monais_own_dice_over_the_batch_is_normalised_over_the_batch(normalise):
    z = torch.randn(3, 3, 4, 5, dtype=torch.float64)
    target = torch.randint(0, 3, (3, 4, 5)) * (torch.rand(3, 4, 5) > 0.6)
    for batch in (False, True):
        wrapped = Surgery(DiceLoss(batch=batch, include_background=False), normalise=normalise)
        expected = "batch" if batch or normalise == "batch" else True
        assert wrapped.surgery.normalise == expected
        rule = SurgeryRule(normalise=expected)
        fused = Dice(batch=batch, surgery=rule)
        torch.testing.assert_close(of(wrapped, z, target, None), of(fused, z, target, None))
    for off in (DiceLoss(batch=True), DiceLoss()):
        assert Surgery(off, normalise=False).surgery.normalise is False


def test_batch_is_one_factor_for_all_samples():
    z = torch.randn(3, 2, 20, dtype=torch.float64)
    target = torch.zeros(3, 20).long()
    target[0, :9] = target[1, :1] = 1  # much, little, nothing
    rule = SurgeryRule(20.0, 0.25, normalise="batch")
    plain = of(Dice(surgery=SurgeryRule(20.0, 0.25, normalise=False)), z, target, None)[1]
    p = z.softmax(1)[:, 1]
    found = of(Dice(surgery=rule), z, target, None)[1]
    torch.testing.assert_close(found, plain * (p.sum() + 10) / 20)
    apart = of(Dice(surgery=SurgeryRule(20.0, 0.25, normalise=True)), z, target, None)[1]
    factors = torch.tensor([(p[0].sum() + 9) / 18, (p[1].sum() + 1) / 2, 1.0]).view(3, 1, 1)
    torch.testing.assert_close(apart, plain * factors)


# --- what it is for -----------------------------------------------------------------------------


def field_without_decline(z, target, normalise):
    """Return the Dice field of scale 1, divided by the error: κ abs(dL/dp) of each voxel."""
    loss = Dice(surgery=SurgeryRule(None, 1.0, normalise=normalise), smooth=1e-12)
    error = 1 - z.softmax(1).gather(1, target.unsqueeze(1))[:, 0]
    return of(loss, z, target, None)[1][:, 1] / error


@checked
@given(st.integers(0, 10_000), st.sampled_from([1, 2, 10, 100, 700]), st.floats(-6.0, 3.0))
def test_the_pull_on_all_foreground_is_one_minus_half_the_score(seed, voxels, certain):
    r = torch.Generator().manual_seed(seed)
    z = torch.randn(1, 2, 1000, generator=r, dtype=torch.float64)
    z[:, 1] += certain
    target = (torch.arange(1000) < voxels).long().unsqueeze(0)
    p = z.softmax(1)[0, 1]
    score = 2 * p[:voxels].sum() / (p.sum() + voxels)
    pull = field_without_decline(z, target, normalise=True)[0]
    torch.testing.assert_close(-pull[:voxels].sum(), 1 - score / 2)
    # And on each background voxel D / (2 Y): however many there are, in the same proportion.
    torch.testing.assert_close(pull[voxels:], (score / (2 * voxels)).expand(1000 - voxels))


@checked
@given(st.integers(0, 10_000), st.integers(1, 20), rules, st.booleans())
def test_where_as_much_is_predicted_as_there_is_nothing_changes(seed, voxels, rule, over_batch):
    r = torch.Generator().manual_seed(seed)
    gap = torch.randn(1, 40, generator=r, dtype=torch.float64)
    target = (torch.arange(40) < voxels).long().unsqueeze(0)
    low, high = -60.0, 60.0
    for _ in range(200):  # the offset at which P = Y
        middle = (low + high) / 2
        low, high = (middle, high) if (gap + middle).sigmoid().sum() < voxels else (low, middle)
    z = torch.stack((torch.zeros_like(gap), gap + low), dim=1)
    off = SurgeryRule(rule.decline, rule.scale, normalise=False)
    found, expected = (
        of(Dice(surgery=x, batch=over_batch), z, target, None)[1] for x in (rule, off)
    )
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("name", list(REGION))
@pytest.mark.parametrize("activation", ["softmax", "sigmoid"])
def test_without_foreground_the_field_is_the_unnormalised_one(name, activation):
    cls, own = REGION[name]
    z = torch.randn(2, 3, 30, dtype=torch.float64)
    target = torch.randint(0, 3, (2, 30)) * torch.tensor([[0], [1]])  # none in the first
    if activation == "sigmoid":
        target = F.one_hot(target, 3).movedim(-1, 1) * torch.tensor([0, 1]).view(2, 1, 1)
    on, off = (
        cls(activation=activation, surgery=SurgeryRule(20.0, 0.3, normalise=n), **own)
        for n in (True, False)
    )
    found, expected = (of(loss, z, target, None)[1] for loss in (on, off))
    assert torch.equal(found[0], expected[0])
    assert not torch.allclose(found[1], expected[1], rtol=1e-2)


def test_the_pull_of_dice_without_foreground_is_nearly_nothing():
    z, target = torch.randn(1, 2, 30, dtype=torch.float64), torch.zeros(1, 30).long()
    loss = Dice(surgery=SurgeryRule(None, 0.3, normalise=True))
    p = z.softmax(1)[:, 1]
    field = of(loss, z, target, None)[1][:, 1]
    torch.testing.assert_close(field, 0.3 * p * EPS / (p.sum() + EPS) ** 2)
    assert field.max() < 1e-6


@pytest.mark.parametrize(("voxels", "factor"), [(30_000, 1e4), (10_000, 5000.5)])
def test_the_factor_is_ten_thousand_at_most(voxels, factor):
    z = torch.full((1, 2, voxels), 40.0, dtype=torch.float64)
    z[:, 0] = 0.0  # all of it predicted to be foreground, and a single voxel is
    target = torch.zeros(1, voxels).long()
    target[0, 0] = 1
    fields = {}
    for normalise in (True, False):
        loss = Dice(surgery=SurgeryRule(None, 1.0, normalise=normalise))
        fields[normalise] = of(loss, z, target, None)[1][0, 1]
        p = surgery_softmax(z.requires_grad_(), target, None, 1.0, normalise)
        (operated,) = torch.autograd.grad(
            loss_of("dice", over_batch=False, first=1)(p, F.one_hot(target, 2).movedim(-1, 1)), z
        )
        z.requires_grad_(requires_grad=False)
        torch.testing.assert_close(operated[0, 1], fields[normalise])
    torch.testing.assert_close(fields[True], factor * fields[False])


# --- blend --------------------------------------------------------------------------------------


@checked
@given(batches(), rules, st.sampled_from([True, "batch"]))
def test_blend_zero_is_the_plain_gradient_bit_for_bit(case, rule, normalise):
    z, target, mask, options = case
    rule = SurgeryRule(rule.decline, rule.scale, normalise=normalise)
    operated, plain = Dice(surgery=rule, **options), Dice(**options)
    operated.blend = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found, expected = (of(loss, z, target, mask) for loss in (operated, plain))
    for one, other in zip(found, expected, strict=True):
        assert torch.equal(one, other)
    off = SurgeryRule(rule.decline, rule.scale, normalise=False)
    wrapped = [Surgery(_mean_dice, **asdict(x), **options) for x in (rule, off)]
    for loss in wrapped:
        loss.blend = 0.0
    assert torch.equal(*(of(loss, z, target, mask)[1] for loss in wrapped))


def _mean_dice(p, y):
    return loss_of("dice", over_batch=False)(p, y)


@checked
@given(softmax_cases(), rules, st.floats(0.0, 1.0))
def test_the_normalisation_comes_with_the_blend(case, rule, blend):
    p = case.logits.softmax(1).flatten(2).sum(2)
    y = F.one_hot(case.target, case.logits.shape[1]).flatten(1, -2).sum(1)
    factor = torch.where(y > 0, ((p + y) / (2 * y)).clamp(max=1e4), 1.0)
    factor[:, 0] = 1.0
    g = case.g * (1 + blend * (factor - 1)).view(*p.shape, *[1] * (case.g.ndim - 2))
    operated = multiclass_field(case.logits, case.target, g, rule.decline, rule.scale)
    expected = blend * operated + (1 - blend) * plain_softmax_field(case.logits, g)
    found = field_of(surgery_softmax, case, **asdict(rule), blend=blend)
    room = 1e-12 * (1 + g.abs().max().item())
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=room)


# --- anything else ------------------------------------------------------------------------------


def test_extreme_labels_give_finite_fields():
    # A foreground of next to nothing, all of it soft, and logits that leave p at 0 or 1.
    for size in (0.0, 1e-300, 5e-324, 1e-30):
        y = torch.full((1, 6), size, dtype=torch.float64)
        g = torch.tensor([1.0, -1.0], dtype=torch.float64).view(1, 2, 1).expand(1, 2, 6)
        for gap in (-800.0, -40.0, 0.0, 40.0, 800.0):
            z = torch.zeros(1, 2, 6, dtype=torch.float64)
            z[:, 1] = gap
            leaf = z.clone().requires_grad_()
            p = surgery_softmax(leaf, torch.stack((1 - y, y), 1), None, 0.5, normalise=True)
            (field,) = torch.autograd.grad(p, leaf, g)
            assert bool(field.isfinite().all())
            total = z.softmax(1)[:, 1].sum().item() / size / 2 + 0.5 if size else 1.0
            factor = torch.tensor([1.0, min(total, 1e4)]).double().view(1, 2, 1)
            expected = soft_binary_field(z, y, g * factor, None, 0.5)
            torch.testing.assert_close(field, expected, rtol=1e-9, atol=1e-15)


def test_channels_have_no_background():
    z, y = torch.randn(1, 2, 9, dtype=torch.float64), torch.zeros(1, 2, 9)
    y[0, 0, :2] = y[0, 1, :7] = 1
    leaf = z.clone().requires_grad_()
    p = surgery_sigmoid(leaf, y, 7.0, 0.5, normalise=True)
    g = torch.ones_like(z)
    (found,) = torch.autograd.grad(p, leaf, g)
    factor = (z.sigmoid().sum(2) + y.sum(2)) / (2 * y.sum(2))
    assert abs(factor - 1).min() > 0.01
    expected = sigmoid_field(z, y.double(), g * factor.unsqueeze(2), 7.0, 0.5)
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", list(REGION))
def test_halves_are_float32_rounded(name, dtype):
    target = (torch.arange(90_000) < 12).long().unsqueeze(0)  # more voxels than a half can count
    z = torch.randn(1, 2, 90_000).to(dtype)
    loss = make_loss(f"{name}-surgery", normalise=True)
    half, full = (gradient(loss, x.requires_grad_(), target) for x in (z, z.detach().float()))
    assert half.dtype == dtype
    assert bool(half.isfinite().all())
    assert torch.equal(half, full.to(dtype))


def test_the_factor_has_no_gradient_of_its_own():
    # It moves with P, which moves with the logits: yet the value and its slope are Dice's.
    z = torch.randn(2, 2, 15, dtype=torch.float64)
    target = (torch.arange(15) < 3).long().expand(2, -1)
    found = of(Dice(surgery=SurgeryRule(None, 0.5, normalise=True)), z, target, None)
    torch.testing.assert_close(found[0], Dice()(z, target))
    slope = found[1][:, 1, :3] / (1 - z.softmax(1)[:, 1, :3]) / 0.5
    torch.testing.assert_close(slope, slope[:, :1].expand_as(slope))  # no voxel knows its own p
