"""MONAI's losses with surgery: its value for every option, our field, its conventions."""

import copy

import pytest
import torch
from monai.data import MetaTensor
from monai.losses import DeepSupervisionLoss, DiceCELoss, DiceLoss, TverskyLoss
from monai.networks import one_hot
from torch.nn.modules.loss import _Loss

import gradsurge as gs
from gradsurge.integrations.monai import SurgeryDiceCELoss, SurgeryDiceLoss, SurgeryTverskyLoss
from gradsurge.losses import Surgery

PAIRS = {
    "dice": (DiceLoss, SurgeryDiceLoss),
    "dice+ce": (DiceCELoss, SurgeryDiceCELoss),
    "tversky": (TverskyLoss, SurgeryTverskyLoss),
}
OPTIONS = {
    "dice": [
        {},
        {"include_background": False},
        {"smooth_nr": 0.0, "smooth_dr": 1e-3},
        {"smooth_nr": 1.0, "smooth_dr": 1.0},
        {"squared_pred": True},
        {"jaccard": True},
        {"batch": True},
        {"reduction": "sum"},
        {"reduction": "none"},
        {"weight": [0.2, 0.5, 1.3]},
        {"include_background": False, "weight": [0.5, 1.3]},
        {"soft_label": True},
    ],
    "dice+ce": [
        {},
        {"include_background": False, "lambda_dice": 0.3, "lambda_ce": 2.0},
        {"squared_pred": True, "batch": True},
        {"reduction": "sum"},
        {"weight": torch.tensor([0.2, 0.5, 1.3])},
        {"include_background": False, "weight": torch.tensor([0.2, 0.5, 1.3])},
        {"label_smoothing": 0.1},
    ],
    "tversky": [
        {},
        {"alpha": 0.3, "beta": 0.7, "include_background": False},
        {"alpha": 0.7, "beta": 0.3, "batch": True},
        {"reduction": "sum"},
        {"reduction": "none"},
        {"smooth_nr": 0.1, "smooth_dr": 0.2},
    ],
}
EVERY = [(kind, options) for kind, all_of_them in OPTIONS.items() for options in all_of_them]


def batch(channels=3, spatial=(5, 4)):
    logits = 3 * torch.randn(2, channels, *spatial)
    return logits, torch.randint(0, max(channels, 2), (2, 1, *spatial))


def gradient(loss, logits, target):
    z = logits.clone().requires_grad_()
    loss(z, target).mean().backward()
    return z.grad


def gap(z):
    """Logit of class 1 against class 0."""
    return z[:, 1] - z[:, 0]


@pytest.mark.parametrize(("kind", "options"), EVERY)
def test_the_value_is_monais(kind, options):
    theirs, ours = PAIRS[kind]
    logits, target = batch()
    expected = theirs(to_onehot_y=True, softmax=True, **options)(logits, target)
    found = ours(to_onehot_y=True, softmax=True, **options)
    torch.testing.assert_close(found(logits, target), expected, rtol=2e-5, atol=2e-6)
    assert isinstance(found, _Loss)
    wide = one_hot(target, 3)  # with weights, cross-entropy of one-hot labels has another mean
    expected = theirs(softmax=True, **options)(logits, wide)
    again = ours(softmax=True, **options)(logits, wide)
    torch.testing.assert_close(again, expected, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("kind", PAIRS)
def test_the_value_of_one_sigmoid_channel_is_monais(kind):
    theirs, ours = PAIRS[kind]
    logits, target = batch(channels=1)
    expected = theirs(sigmoid=True)(logits, target)
    for to_onehot_y in (False, True):
        found = ours(sigmoid=True, to_onehot_y=to_onehot_y)(logits, target)
        torch.testing.assert_close(found, expected, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("options", [{}, {"include_background": False}, {"batch": True}])
@pytest.mark.parametrize("kind", ["dice", "tversky"])
def test_the_value_of_sigmoid_channels_is_monais(kind, options):
    theirs, ours = PAIRS[kind]
    logits, target = batch()
    for to_onehot_y, labels in ((True, target), (False, one_hot(target, 3))):
        expected = theirs(sigmoid=True, to_onehot_y=to_onehot_y, **options)(logits, labels)
        found = ours(sigmoid=True, to_onehot_y=to_onehot_y, **options)(logits, labels)
        torch.testing.assert_close(found, expected, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize(
    ("kind", "options"), [(k, o) for k, o in EVERY if k != "dice+ce" and o.get("weight") is None]
)
def test_the_field_is_the_rule_on_monais_own_slope(kind, options):
    """Two classes: p (1-p) becomes s e (1 - e^n) (1 - (1-e)^n), on the slope MONAI has."""
    theirs, ours = PAIRS[kind]
    logits, target = batch(channels=2)
    z = logits.double()
    p = z.softmax(1).requires_grad_()
    theirs(**options)(p, one_hot(target, 2).double()).mean().backward()
    e = (target[:, 0] - gap(z).sigmoid()).abs()
    weight = 0.25 * e * (1 - e**20) * (1 - (1 - e) ** 20)
    expected = weight * (p.grad[:, 1] - p.grad[:, 0])
    found = gradient(ours(to_onehot_y=True, softmax=True, **options), z, target)
    torch.testing.assert_close(found[:, 1], expected, rtol=1e-5, atol=1e-9)
    torch.testing.assert_close(found[:, 0], -expected, rtol=1e-5, atol=1e-9)


def test_cross_entropy_keeps_its_gradient():
    """With and without the fused pass: the sum of operated Dice and ordinary cross-entropy."""
    logits, target = batch(channels=2)
    settings = {"to_onehot_y": True, "softmax": True}
    for options in ({}, {"batch": True}, {"squared_pred": True}):
        dice = gradient(SurgeryDiceLoss(**settings, **options), logits, target)
        z = logits.clone().requires_grad_()
        torch.nn.functional.cross_entropy(z, target[:, 0]).backward()
        both = gradient(SurgeryDiceCELoss(**settings, **options), logits, target)
        torch.testing.assert_close(both, dice + z.grad, rtol=1e-5, atol=1e-8)


def test_decline_and_scale_reach_the_field():
    logits, target = batch(channels=2)
    for kind, (_, ours) in PAIRS.items():
        for options in ({}, {"batch": True}):
            settings = {"to_onehot_y": True, "softmax": True, **options}
            usual = gradient(ours(**settings), logits, target)
            for other in ({"decline": 2.0}, {"decline": None}, {"scale": 0.5}):
                changed = gradient(ours(**settings, **other), logits, target)
                assert not torch.allclose(changed, usual), (kind, other)


def test_blend_0_is_monais_gradient():
    logits, target = batch()
    for kind, options in EVERY:
        theirs, ours = PAIRS[kind]
        settings = {"to_onehot_y": True, "softmax": True, **options}
        loss = ours(**settings)
        loss.blend = 0.0
        assert loss.blend == 0.0
        expected = gradient(theirs(**settings), logits, target)
        found = gradient(loss, logits, target)
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("kind", PAIRS)
def test_equilibrium_is_that_of_our_own_loss(kind):
    logits, target = batch(channels=2)
    name, options = {
        "dice": ("dice-surgery", {}),
        "dice+ce": ("ce+dice-surgery", {"weights": (1.0, 1.0)}),
        "tversky": ("tversky-surgery", {"a": 0.5}),
    }[kind]
    own = gs.make_loss(name, include_background=True, **options)
    loss = PAIRS[kind][1](to_onehot_y=True, softmax=True)
    for each in (own, loss):
        gradient(each, logits, target)
    torch.testing.assert_close(loss.equilibrium_shift(), own.equilibrium_shift())
    twin = PAIRS[kind][1](to_onehot_y=True, softmax=True)
    twin.load_state_dict(loss.state_dict())
    torch.testing.assert_close(twin.equilibrium_shift(), loss.equilibrium_shift())


def test_equilibrium_without_the_fused_pass():
    logits, target = batch()
    options = {"to_onehot_y": True, "softmax": True, "batch": True}
    loss, own = SurgeryDiceLoss(**options), Surgery(DiceLoss(batch=True))
    for each in (loss, own):
        gradient(each, logits, target)
    torch.testing.assert_close(loss.equilibrium_shift(), own.equilibrium_shift())
    both = SurgeryDiceCELoss(**options)
    gradient(both, logits, target)
    with pytest.raises(ValueError, match="equilibrium: it is measured for Dice plus cross-entropy"):
        both.equilibrium()


@pytest.mark.parametrize("kind", ["dice", "tversky"])
@pytest.mark.parametrize("activation", ["softmax", "sigmoid"])
@pytest.mark.parametrize("options", [{}, {"include_background": False}, {"batch": True}])
@pytest.mark.parametrize("number", [0, 2, 255, -1])
def test_ignored_voxels_are_monais(kind, activation, options, number):
    """A class or another number, of class indices and of channels; with and without fusing."""
    theirs, ours = PAIRS[kind]
    logits, target = batch()
    unlabelled = torch.rand(target.shape) < 0.3
    wide = one_hot(target, 3)
    wide = one_hot(target.masked_fill(unlabelled, 2), 3) if number == 2 else wide * ~unlabelled
    if number == 0:
        wide[:, :1] += unlabelled
    for to_onehot_y, labels in ((True, target.masked_fill(unlabelled, number)), (False, wide)):
        settings = {activation: True, "to_onehot_y": to_onehot_y, "ignore_index": number, **options}
        loss = ours(**settings)
        expected = theirs(**settings)(logits, labels)
        torch.testing.assert_close(loss(logits, labels), expected, rtol=2e-5, atol=2e-6)
        field = gradient(loss, logits, labels)
        assert not field[unlabelled.expand_as(field)].any()
        assert field.any()


def test_a_number_that_labels_cannot_hold_ignores_nothing():
    """torch takes -1 of uint8 for 255."""
    logits, target = batch()
    marked = target.to(torch.uint8)
    marked[0, 0, 0, 0] = 255
    with pytest.raises(ValueError, match="got 255"):
        SurgeryDiceLoss(softmax=True, to_onehot_y=True, ignore_index=-1)(logits, marked)


def test_labels_of_monais_loaders():
    """Float labels and MetaTensors, as LoadImaged leaves them."""
    logits, target = batch()
    for _, ours in PAIRS.values():
        loss = ours(to_onehot_y=True, softmax=True)
        expected = loss(logits, target)
        for form in (target.float(), target.to(torch.uint8), MetaTensor(target.float())):
            assert torch.equal(loss(logits, form), expected)
        assert torch.equal(loss(MetaTensor(logits), MetaTensor(target)), expected)


def test_in_deep_supervision():
    fine, target = batch(spatial=(8, 8))
    coarse, _ = batch(spatial=(4, 4))
    settings = {"to_onehot_y": True, "softmax": True}
    expected = DeepSupervisionLoss(DiceLoss(**settings))([fine, coarse], target.float())
    found = DeepSupervisionLoss(SurgeryDiceLoss(**settings))([fine, coarse], target.float())
    torch.testing.assert_close(found, expected)
    ours = gs.DeepSupervision(SurgeryDiceLoss(**settings), levels=2)
    assert ours([fine, coarse], target).isfinite()


def test_copies():
    loss = SurgeryDiceCELoss(to_onehot_y=True, softmax=True, decline=40.0)
    logits, target = batch()
    twin = copy.deepcopy(loss)
    assert torch.equal(gradient(twin, logits, target), gradient(loss, logits, target))


@pytest.mark.parametrize("ours", [pair[1] for pair in PAIRS.values()])
@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "softmax, sigmoid: expected one of them to be True, got softmax=False"),
        ({"softmax": True, "sigmoid": True}, "got softmax=True, sigmoid=True"),
        ({"softmax": True, "other_act": torch.tanh}, "other_act: surgery knows softmax and"),
        ({"softmax": True, "decline": -1.0}, "decline: expected"),
        ({"softmax": True, "reduction": "median"}, "median"),
    ],
)
def test_bad_constructions(ours, options, text):
    with pytest.raises(ValueError, match=text):
        ours(**options)


def test_unknown_options_are_named():
    with pytest.raises(TypeError, match="declin"):
        SurgeryDiceLoss(softmax=True, declin=20.0)


def test_bad_batches():
    logits, target = batch()
    wide = one_hot(target, 3)
    indices = SurgeryDiceLoss(softmax=True, to_onehot_y=True)
    channels = SurgeryDiceLoss(softmax=True)
    for loss, labels, text in (
        (channels, target, r"expected shape \(2, 3, 5, 4\).* say to_onehot_y=True"),
        (indices, wide, r"expected shape \(2, 1, 5, 4\).* say to_onehot_y=False"),
        (indices, target[:, 0], r"expected shape \(2, 1, 5, 4\), got \(2, 5, 4\)$"),
        (indices, target[..., :3], r"got \(2, 1, 5, 3\)$"),
        (indices, target + 1, r"target: expected labels 0\.\.2, got 3"),
        (channels, wide * 2, "target: expected"),
    ):
        with pytest.raises(ValueError, match=text):
            loss(logits, labels)
    with pytest.raises(ValueError, match=r"softmax needs two channels or more.*sigmoid=True"):
        indices(logits[:, :1], target)
    with pytest.raises(ValueError, match=r"make_loss\('ce\+dice-surgery', activation='sigmoid'\)"):
        SurgeryDiceCELoss(sigmoid=True)(logits, wide)
