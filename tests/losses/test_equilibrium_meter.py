"""What a surgery loss measures while it trains, against sums done by hand."""

import copy
import functools
import pickle

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from gradsurge import Dice, Surgery, SurgeryRule, Tversky, WithCrossEntropy, make_loss
from gradsurge.losses.equilibrium import EquilibriumMeter
from gradsurge.surgery import fields, region_sums

# The meter keeps float32 whatever the logits are.
assert_close = functools.partial(torch.testing.assert_close, check_dtype=False)

EPS = 1e-5
normalised_or_not = pytest.mark.parametrize("normalise", [False, True])


def batch(classes=2, samples=2, seed=0):
    r = torch.Generator().manual_seed(seed)
    logits = torch.randn(samples, classes, 6, 5, generator=r, dtype=torch.float64) * 2
    target = torch.randint(0, classes, (samples, 6, 5), generator=r)
    return logits.requires_grad_(), target


def sums(logits, target):
    """I, P, Y of every sample and class, (N, C)."""
    p = logits.detach().softmax(1).flatten(2)
    y = F.one_hot(target, logits.shape[1]).movedim(-1, 1).flatten(2).double()
    return (p * y).sum(-1), p.sum(-1), y.sum(-1)


def measure(loss, logits, target, times=1.0):
    (loss(logits, target) * times).backward()
    return loss.equilibrium_shift()


def test_dice_over_the_batch_shifts_by_two_minus_d_over_d():
    logits, target = batch()
    i, p, y = (s.sum(0)[1] for s in sums(logits, target))
    d = (2 * i + EPS) / (p + y + EPS)
    shift = measure(Dice(batch=True, surgery=SurgeryRule()), logits, target)
    assert_close(shift, torch.stack((torch.zeros_like(d), ((2 - d) / d).log())))


@normalised_or_not
def test_dice_per_sample_averages_the_rates_over_what_is_in_doubt(normalise):
    logits, target = batch(samples=3)
    i, p, y = (s[:, 1] for s in sums(logits, target))
    size, twice = p + y + EPS, 2 * i + EPS
    factor = (p + y) / (2 * y) if normalise else 1.0
    fg, bg = factor * (2 * size - twice) / size**2 / 3, factor * twice / size**2 / 3
    loss = Dice(surgery=SurgeryRule(scale=0.5, normalise=normalise))
    shift = measure(loss, logits, target)
    missed, false = y - i, p - i  # sums of e over foreground, over background voxels
    mean_fg, mean_bg = (fg * missed).sum() / missed.sum(), (bg * false).sum() / false.sum()
    region = loss.equilibrium().region[0]
    assert_close(region[1, 0], 0.5 * mean_fg)
    assert_close(region[0, 1], 0.5 * mean_bg)
    assert_close(shift[1], (mean_fg / mean_bg).log())


@normalised_or_not
def test_three_classes_per_sample_weigh_each_pair_by_its_own_doubt(normalise):
    logits, target = batch(3, samples=3)
    i, p, y = sums(logits, target)
    size, twice = p + y + EPS, 2 * i + EPS
    up, down = (2 * size - twice) / size**2 / 6, twice / size**2 / 6  # two classes, three samples
    up[:, 0] = down[:, 0] = 0.0
    if normalise:
        up, down = (g * (p + y) / (2 * y) for g in (up, down))
    loss = Dice(surgery=SurgeryRule(scale=1.0, normalise=normalise))
    measure(loss, logits, target)
    found, probability = loss.equilibrium().region[0], logits.detach().softmax(1)
    for t in range(3):
        for c in {0, 1, 2} - {t}:
            doubt = (probability[:, c] * (target == t)).sum(dim=(1, 2))
            expected = ((up[:, t] + down[:, c]) * doubt).sum() / doubt.sum()
            assert_close(found[t, c], expected)


@pytest.mark.parametrize("a", [0.3, 0.7])
def test_tversky_shifts_by_its_own_ratio(a):
    logits, target = batch()
    i, p, y = (s.sum(0)[1] for s in sums(logits, target))
    t = (i + EPS) / (i + a * (p - i) + (1 - a) * (y - i) + EPS)
    shift = measure(Tversky(a=a, batch=True, surgery=SurgeryRule()), logits, target)
    assert_close(shift[1], ((1 - a * t) / (a * t)).log())


@pytest.mark.parametrize("weights", [(0.5, 0.5), (0.2, 2.0)])
def test_with_cross_entropy(weights):
    logits, target = batch()
    i, p, y = (s.sum(0)[1] for s in sums(logits, target))
    size, twice = p + y + EPS, 2 * i + EPS
    of_ce = weights[0] / target.numel()
    normalise = weights[0] < 0.5
    strength = weights[1] * 0.25 * ((p + y) / (2 * y) if normalise else 1.0)
    fg = of_ce + strength * (2 * size - twice) / size**2
    bg = of_ce + strength * twice / size**2
    rule = SurgeryRule(20.0, 0.25, normalise=normalise)
    loss = WithCrossEntropy(Dice(batch=True, surgery=rule), weights)
    assert_close(measure(loss, logits, target)[1], (fg / bg).log())


def test_class_weights_enter_the_cross_entropy_share():
    logits, target = batch()
    w = torch.tensor([0.5, 2.0], dtype=torch.float64)
    loss = WithCrossEntropy(Dice(batch=True, class_weights=w, surgery=SurgeryRule()), (1.0, 0.0))
    measure(loss, logits, target)
    counts = torch.bincount(target.flatten())
    expected = w / (w * counts).sum()
    assert_close(loss.equilibrium().cross_entropy[0], expected)


@pytest.mark.parametrize("include_background", [False, True])
def test_three_classes(include_background):
    logits, target = batch(3)
    i, p, y = (s.sum(0) for s in sums(logits, target))
    counted = 3 if include_background else 2
    size, twice = p + y + EPS, 2 * i + EPS
    up, down = (2 * size - twice) / size**2 / counted, twice / size**2 / counted
    if not include_background:
        up[0] = down[0] = 0.0
    normalise = include_background
    if normalise:
        factor = (p + y) / (2 * y)
        factor[0] = 1.0
        up, down = up * factor, down * factor
    rule = SurgeryRule(scale=0.25, normalise=normalise)
    loss = Dice(batch=True, include_background=include_background, surgery=rule)
    shift = measure(loss, logits, target)
    expected = 0.25 * (up.unsqueeze(1) + down.unsqueeze(0))  # A_ct = G-_c + G+_t
    expected.fill_diagonal_(0.0)
    assert_close(loss.equilibrium().region[0], expected)
    assert_close(shift, (expected[:, 0] / expected[0]).nan_to_num(1.0).log())


def test_sigmoid_measures_every_channel():
    logits, _ = batch(3)
    target = torch.rand(logits.shape) > 0.6
    p, y = logits.detach().sigmoid(), target.double()
    over = (0, 2, 3)
    size, twice = (p + y).sum(over) + EPS, 2 * (p * y).sum(over) + EPS
    loss = Dice(activation="sigmoid", batch=True, surgery=SurgeryRule())
    shift = measure(loss, logits, target)
    assert_close(shift, ((2 * size - twice) / twice).log())
    assert loss.equilibrium().region.shape == (3, 2, 2)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("activation", ["softmax", "sigmoid"])
def test_wrapped_and_fused_losses_measure_the_same(classes, activation):
    def dice(p, y):
        over = tuple(range(2, p.ndim))
        score = (2 * (p * y).sum(over) + EPS) / ((p + y).sum(over) + EPS)
        return (1 - score).mean()

    logits, target = batch(classes, samples=3)
    if activation == "sigmoid":
        target = torch.rand(logits.shape) > 0.6
    mask = torch.rand(3, 6, 5) > 0.2
    rule = SurgeryRule(decline=20.0, scale=0.25, normalise=classes == 3)
    fused = Dice(activation=activation, include_background=True, surgery=rule)
    wrapped = Surgery(dice, activation, rule.decline, rule.scale, rule.normalise)
    for loss in (fused, wrapped):
        loss(logits, target, mask).backward()
    for one, other in zip(fused.equilibrium()[:2], wrapped.equilibrium()[:2], strict=True):
        assert_close(one, other)


SURGERY_LOSSES = {
    "dice-surgery": functools.partial(make_loss, "dice-surgery"),
    "ce+dice-surgery": functools.partial(make_loss, "ce+dice-surgery"),
    "wrapped": lambda **options: Surgery(nn.L1Loss(), **options),
}


@pytest.mark.parametrize("check", [True, False])
@pytest.mark.parametrize("activation", ["softmax", "sigmoid"])
@pytest.mark.parametrize("name", SURGERY_LOSSES)
def test_soft_labels_have_no_equilibrium(name, activation, check):
    logits, target = batch()
    hard = F.one_hot(target, 2).movedim(-1, 1).float()
    soft = hard.clone()
    soft[1, :, 2, 3] = torch.tensor([0.4, 0.6])
    loss = SURGERY_LOSSES[name](activation=activation, check=check)
    measure(loss, logits, hard)  # floating, but hard
    for labels in (soft, hard):  # once soft, later steps do not make it good
        loss(logits, labels).backward()
        for ask in (loss.equilibrium, loss.equilibrium_shift):
            with pytest.raises(RuntimeError, match=r"equilibrium: .*soft labels .*no closed form"):
                ask()
    fresh = SURGERY_LOSSES[name](activation=activation)
    fresh.load_state_dict(loss.state_dict())
    with pytest.raises(RuntimeError, match="soft labels"):
        fresh.equilibrium()


@pytest.mark.parametrize("name", SURGERY_LOSSES)
def test_soft_labels_that_are_masked_out_do_not_count(name):
    logits, target = batch()
    labels = F.one_hot(target, 2).movedim(-1, 1).double()
    mask = torch.ones(target.shape, dtype=torch.bool)
    mask[1, 2, 3] = False
    loss, same = (SURGERY_LOSSES[name](check=False) for _ in range(2))
    same(logits, labels, mask).backward()
    labels[1, :, 2, 3] = 0.5
    loss(logits, labels, mask).backward()
    assert_close(loss.equilibrium_shift(), same.equilibrium_shift())


def test_floating_channels_with_entries_left_out_are_hard():
    logits, _ = batch(3)
    target = (torch.rand(logits.shape) > 0.6).float()
    target[0, :, 0] = 255.0
    loss = make_loss("dice-surgery", activation="sigmoid", ignore_index=255)
    assert measure(loss, logits, target).isfinite().all()


@normalised_or_not
def test_hard_statistics_take_the_pull_of_the_mask_and_the_doubt_of_the_probabilities(normalise):
    logits, target = batch(samples=3)
    i, p, y = (s[:, 1] for s in sums(logits, target))
    mask = (logits.detach()[:, 1] > logits.detach()[:, 0]).double()
    both, size = 2 * (mask * target).sum((1, 2)) + EPS, mask.sum((1, 2)) + y + EPS
    factor = (mask.sum((1, 2)) + y) / (2 * y) if normalise else 1.0
    fg, bg = factor * (2 * size - both) / size**2, factor * both / size**2
    rule = SurgeryRule(normalise=normalise)
    shift = measure(Dice(surgery=rule, hard_statistics=True), logits, target)
    missed, false = y - i, p - i
    ratio = (fg * missed).sum() / missed.sum() / ((bg * false).sum() / false.sum())
    assert_close(shift[1], ratio.log())


@pytest.mark.parametrize("classes", [2, 3])
def test_what_is_ignored_is_not_measured(classes):
    logits, target = batch(classes)
    left_out = torch.rand(target.shape, generator=torch.Generator().manual_seed(1)) > 0.7
    ignored, masked = (Dice(surgery=SurgeryRule(), ignore_index=i) for i in (9, None))
    ignored(logits, target.masked_fill(left_out, 9)).backward()
    masked(logits, target, ~left_out).backward()
    whole = Dice(surgery=SurgeryRule())
    whole(logits, target).backward()
    assert_close(ignored.meter.totals, masked.meter.totals)
    assert not torch.allclose(whole.equilibrium_shift(), masked.equilibrium_shift(), rtol=1e-3)


def test_means_look_back_a_tenth_of_the_steps_and_then_forget_exponentially():
    steps = [batch(seed=seed) for seed in range(4)]
    loss = Dice(batch=True, surgery=SurgeryRule(scale=0.25, normalise=True))
    loss.meter.momentum = 0.15
    pull, doubt = 0.0, 0.0
    for kept, (logits, target) in zip((0.0, 1 / 11, 0.15, 0.15), steps, strict=True):
        measure(loss, logits, target)
        i, p, y = (s.sum(0)[1] for s in sums(logits, target))
        size = p + y + EPS
        strength = 0.25 * (p + y) / (2 * y)
        pull = kept * pull + (y - i) * strength * (2 * size - 2 * i - EPS) / size**2
        doubt = kept * doubt + (y - i)
    assert_close(loss.equilibrium().region[0, 1, 0], pull / doubt)


@pytest.mark.parametrize("name", ["dice-surgery", "ce+dice-surgery"])
def test_first_steps_in_which_all_is_in_doubt_are_soon_forgotten(name):
    labels = torch.cat((torch.zeros(5000), torch.ones(80), (torch.arange(180) % 9 > 4)))
    sets = torch.cat((torch.zeros(5000), torch.ones(80), 2 + torch.arange(180) % 9)).long()
    z = torch.zeros(11, dtype=torch.float64, requires_grad=True)
    loss, optimiser = make_loss(name), torch.optim.Adam([z], lr=0.03)

    def descend(loss):
        optimiser.zero_grad()
        gap = z[sets][None]
        loss(torch.stack((torch.zeros_like(gap), gap), dim=1), labels.long()[None]).backward()
        optimiser.step()

    for _ in range(300):
        descend(loss)
    last = make_loss(name)
    descend(last)
    shift = last.equilibrium_shift()[1]  # of the last step alone
    assert_close(loss.equilibrium_shift()[1], shift, rtol=0.25, atol=0)  # still moving


# --- state -------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("name", ["dice-surgery", "ce+tversky-surgery"])
def test_state_dict_into_a_fresh_loss(name, classes):
    logits, target = batch(classes)
    loss, fresh = make_loss(name), make_loss(name)
    shift = measure(loss, logits, target)
    fresh.load_state_dict(loss.state_dict())
    assert torch.equal(fresh.equilibrium_shift(), shift)
    assert torch.equal(measure(fresh, logits, target), measure(loss, logits, target))


@pytest.mark.parametrize("name", ["dice-surgery", "ce+dice-surgery"])
@pytest.mark.parametrize("how", [copy.deepcopy, lambda loss: pickle.loads(pickle.dumps(loss))])
def test_copies_are_separate_and_keep_measuring(name, how):
    logits, target = batch(3)
    loss = make_loss(name)
    before = measure(loss, logits, target)
    twin = how(loss)
    assert torch.equal(twin.equilibrium_shift(), before)
    other_logits, other_target = batch(3, seed=1)
    after = measure(twin, other_logits, other_target)
    assert not torch.equal(after, before)
    assert torch.equal(loss.equilibrium_shift(), before)


def test_a_wrapped_loss_round_trips_too():
    logits, target = batch()
    loss = Surgery(nn.L1Loss())
    shift = measure(loss, logits, target)
    fresh = Surgery(nn.L1Loss())
    fresh.load_state_dict(loss.state_dict())
    assert torch.equal(fresh.equilibrium_shift(), shift)
    assert torch.equal(copy.deepcopy(loss).equilibrium_shift(), shift)


@pytest.mark.parametrize("move", [nn.Module.half, nn.Module.double, lambda m: m.to(torch.bfloat16)])
def test_changing_the_dtype_of_the_module_does_not_round_the_measurement(move):
    logits, target = batch()
    loss = make_loss("ce+dice-surgery")
    before = measure(loss, logits, target)
    move(loss)
    assert torch.equal(loss.equilibrium_shift(), before)
    assert loss.region.meter.totals.dtype == torch.float32
    fresh = make_loss("ce+dice-surgery")
    measure(fresh, logits, target)
    assert_close(measure(loss, logits, target), measure(fresh, logits, target))


def test_bad_input_does_not_wipe_what_was_measured():
    logits, target = batch()
    loss = make_loss("dice-surgery")
    before = measure(loss, logits, target)
    with pytest.raises(ValueError, match="logits"):
        loss(torch.randn(2, 3, requires_grad=True), target)
    assert torch.equal(loss.equilibrium_shift(), before)


# --- when nothing is measured ------------------------------------------------------------------


def nothing_in_eval(loss, logits, target):
    loss.eval()
    loss(logits, target).backward()


def nothing_without_grad(loss, logits, target):
    with torch.no_grad():
        loss(logits, target)


def nothing_for_constants(loss, logits, target):
    assert not loss(logits.detach(), target).requires_grad


def nothing_before_backward(loss, logits, target):
    loss(logits, target)


def nothing_of_the_plain_gradient(loss, logits, target):
    loss.blend = 0.0
    loss(logits, target).backward()
    loss.blend = 1.0


def nothing_of_a_blend(loss, logits, target):
    loss.blend = 0.9
    loss(logits, target).backward()
    loss.blend = 1.0


def nothing_of_an_overflow(loss, logits, target):
    (loss(logits, target) * torch.inf).backward()


@pytest.mark.parametrize(
    "step",
    [
        nothing_in_eval,
        nothing_without_grad,
        nothing_for_constants,
        nothing_before_backward,
        nothing_of_the_plain_gradient,
        nothing_of_a_blend,
        nothing_of_an_overflow,
    ],
)
@pytest.mark.parametrize(
    "make", [lambda: make_loss("ce+dice-surgery"), lambda: Surgery(nn.L1Loss())]
)
def test_steps_that_are_not_measured(step, make):
    logits, target = batch()
    loss = make()
    with pytest.raises(RuntimeError, match="equilibrium: nothing measured yet"):
        loss.equilibrium_shift()
    step(loss, logits, target)
    with pytest.raises(RuntimeError, match="equilibrium: nothing measured yet"):
        loss.equilibrium_shift()
    loss.train()
    before = measure(loss, logits, target)
    steps = getattr(loss, "region", loss).meter.steps.clone()
    step(loss, logits, target)
    assert torch.equal(loss.equilibrium_shift(), before)
    assert torch.equal(getattr(loss, "region", loss).meter.steps, steps)


@pytest.mark.parametrize(
    "make", [lambda: make_loss("ce+dice-surgery"), lambda: Surgery(nn.L1Loss())]
)
def test_a_blend_has_no_shift_to_offer(make):
    logits, target = batch()
    loss = make()
    measure(loss, logits, target)
    loss.blend = 0.5
    with pytest.raises(RuntimeError, match=r"equilibrium: with blend 0\.5 .*end the schedule at 1"):
        loss.equilibrium_shift()


def test_a_scaled_loss_has_the_same_shift():
    logits, target = batch(3)
    for name in ("dice-surgery", "ce+dice-surgery"):
        plain = measure(make_loss(name), logits, target)
        scaled = measure(make_loss(name), logits, target, times=65536.0)
        assert_close(scaled, plain)


def test_two_uses_in_one_step_are_both_counted():
    (one, y_one), (two, y_two) = batch(seed=0), batch(seed=1)
    loss = Dice(surgery=SurgeryRule())
    (loss(one, y_one) + loss(two, y_two)).backward()
    wrong = [
        1 - z.detach().softmax(1).gather(1, y[:, None]) for z, y in ((one, y_one), (two, y_two))
    ]
    assert_close(loss.meter.totals[..., -2:].sum(), sum(e.sum() for e in wrong))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("make", [lambda: make_loss("dice-surgery"), lambda: Surgery(nn.L1Loss())])
def test_what_is_not_measured_is_not_computed(make, classes, monkeypatch):
    called = []
    for module, name in (
        (fields, "binary_rates"),
        (fields, "multiclass_rates"),
        (region_sums, "confusion_sums"),
        (region_sums, "region_rates"),
    ):
        own = getattr(module, name)
        spy = functools.partial(lambda own, *a, **k: called.append(own) or own(*a, **k), own)
        monkeypatch.setattr(module, name, spy)
    logits, target = batch(classes)
    loss = make().eval()
    loss(logits, target).backward()
    assert not called
    loss.train()(logits, target).backward()
    assert called


@pytest.mark.parametrize("momentum", [-0.1, 1.0, torch.nan])
def test_momentum_outside_its_range(momentum):
    with pytest.raises(ValueError, match=r"momentum: expected a number in \[0, 1\)"):
        EquilibriumMeter(20.0, momentum=momentum)
