"""Surgery(loss): MONAI's losses unchanged, and refusals that name what to change."""

import functools
from dataclasses import asdict

import monai.losses
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from gradsurge import Dice, Surgery, SurgeryRule, Tversky, make_loss
from gradsurge.losses import GeneralisedDice
from tests.losses.composed import make_batch, value_and_gradient
from tests.properties.asserts import assert_no_field_at

TVERSKY = {"alpha": 0.3, "beta": 0.7, "smooth_nr": 1e-5, "smooth_dr": 1e-5}
# MONAI's loss and its options beside ours
PAIRS = {
    "DiceLoss": (monai.losses.DiceLoss, {}, Dice, {}),
    "TverskyLoss": (monai.losses.TverskyLoss, TVERSKY, Tversky, {"a": 0.3}),
    "GeneralizedDiceLoss": (monai.losses.GeneralizedDiceLoss, {}, GeneralisedDice, {}),
}


@pytest.mark.parametrize("name", list(PAIRS))
@pytest.mark.parametrize("kind", ["two", "three", "sigmoid"])
@pytest.mark.parametrize("over_batch", [True, False])
def test_monai_losses(name, kind, over_batch):
    data = make_batch(kind)
    theirs, their_options, ours, our_options = PAIRS[name]
    activation = "sigmoid" if kind == "sigmoid" else "softmax"
    rule = SurgeryRule(decline=20.0, scale=0.25, normalise=kind != "two")
    wrapped = Surgery(theirs(batch=over_batch, **their_options), activation, **asdict(rule))
    value, field = value_and_gradient(wrapped, data.logits, data.target)
    plain = theirs(batch=over_batch, **their_options, **{activation: True})
    torch.testing.assert_close(value, plain(data.logits, data.channels))
    fused = ours(
        activation=activation,
        batch=over_batch,
        include_background=True,  # MONAI's default
        surgery=rule,
        **our_options,
    )
    # MONAI computes its weights of generalised Dice in float32.
    room = {"rtol": 1e-6, "atol": 1e-9} if "Generalized" in name else {}
    torch.testing.assert_close(
        field, value_and_gradient(fused, data.logits, data.target)[1], **room
    )


@pytest.mark.parametrize("name", list(PAIRS))
@pytest.mark.parametrize("include_background", [True, False])
def test_losses_that_want_class_indices(name, include_background):
    data = make_batch("three")
    theirs, options, _, _ = PAIRS[name]
    options = {**options, "include_background": include_background}
    expected = value_and_gradient(Surgery(theirs(**options)), data.logits, data.target)
    forms = data.target, data.target.unsqueeze(1), data.channels.long(), data.channels
    for target in forms:
        wrapped = Surgery(theirs(to_onehot_y=True, **options))
        torch.testing.assert_close(value_and_gradient(wrapped, data.logits, target), expected)


def test_what_class_indices_cannot_say_is_refused():
    loss = monai.losses.DiceLoss(to_onehot_y=True)
    masked, soft = make_batch("two", "masked"), make_batch("two", "soft")
    with pytest.raises(ValueError, match=r"left out by mask .*Build it with to_onehot_y=False"):
        Surgery(loss)(masked.logits, masked.target, masked.mask)
    with pytest.raises(ValueError, match=r"soft labels.*Build it with to_onehot_y=False"):
        Surgery(loss)(soft.logits, soft.target)
    # Where values are not looked at, floating labels may be soft.
    with pytest.raises(ValueError, match="soft labels"):
        Surgery(loss, check=False)(soft.logits, soft.channels)


def test_hard_labels_of_two_classes_may_be_floating():
    data, loss = make_batch("two"), monai.losses.DiceLoss(to_onehot_y=True)
    found = value_and_gradient(Surgery(loss), data.logits, data.channels)
    expected = value_and_gradient(Surgery(loss), data.logits, data.target)
    torch.testing.assert_close(found, expected)


def test_class_indices_say_nothing_about_channels_that_overlap():
    loss = monai.losses.DiceLoss(to_onehot_y=True)
    with pytest.raises(ValueError, match=r"region_loss: DiceLoss.*build it with to_onehot_y=False"):
        Surgery(loss, "sigmoid")


def test_a_stray_255_is_not_taken_for_minus_one():
    seen = []

    def loss(p, y):
        seen.append(y)
        return (p * y).sum()

    z, target = torch.randn(1, 1, 3), torch.tensor([[[0, 255, 1]]], dtype=torch.uint8)
    with pytest.raises(ValueError, match=r"target: .*from 0 to 255"):
        Surgery(loss, "sigmoid", ignore_index=-1)(z, target)
    Surgery(loss, "sigmoid", ignore_index=-1, check=False)(z, target)
    assert seen[0].flatten().tolist() == [0, 255, 1]


@pytest.mark.parametrize("kind", ["two", "three", "sigmoid"])
@pytest.mark.parametrize("labels", ["masked", "ignored"])
def test_what_does_not_count_is_in_neither_value_nor_gradient(kind, labels):
    data = make_batch(kind, labels)
    activation = "sigmoid" if kind == "sigmoid" else "softmax"
    wrapped = Surgery(monai.losses.DiceLoss(), activation, ignore_index=data.ignore_index)
    value, field = value_and_gradient(wrapped, data.logits, data.target, data.mask)
    fused = Dice(
        activation=activation,
        include_background=True,
        surgery=SurgeryRule(),
        ignore_index=data.ignore_index,
    )
    expected = value_and_gradient(fused, data.logits, data.target, data.mask)
    torch.testing.assert_close((value, field), expected)
    assert_no_field_at(field, (data.kept == 0)[:, 0])


def test_ignored_voxels_get_nothing_from_a_loss_that_does_not_know_of_them():
    def looks_everywhere(p, y):
        return (p + 1).log().square().sum()

    data = make_batch("three", "ignored")
    wrapped = Surgery(looks_everywhere, ignore_index=255)
    _, field = value_and_gradient(wrapped, data.logits, data.target)
    assert_no_field_at(field, data.target == 255)


@pytest.mark.parametrize("blend", [0.0, 0.3])
def test_blend(blend):
    data = make_batch("three")
    wrapped = Surgery(monai.losses.DiceLoss(), normalise=False)
    plain = monai.losses.DiceLoss(softmax=True)
    _, operated = value_and_gradient(wrapped, data.logits, data.target)
    wrapped.blend = blend
    assert wrapped.blend == blend
    _, field = value_and_gradient(wrapped, data.logits, data.target)
    _, ordinary = value_and_gradient(plain, data.logits, data.channels)
    torch.testing.assert_close(field, blend * operated + (1 - blend) * ordinary)


def test_soft_labels_reach_the_loss_and_the_rule():
    data = make_batch("two", "soft")
    fused = Dice(include_background=True, surgery=SurgeryRule())
    wrapped = Surgery(monai.losses.DiceLoss())
    found = value_and_gradient(wrapped, data.logits, data.target)
    torch.testing.assert_close(found, value_and_gradient(fused, data.logits, data.target))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_halves_reach_the_loss_as_float32(dtype):
    seen = []

    def loss(p, y):
        seen.extend((p.dtype, y.dtype))
        return (p * y).sum()

    z = torch.randn(1, 2, 4).to(dtype).requires_grad_()
    Surgery(loss)(z, torch.zeros(1, 4, dtype=torch.uint8)).backward()
    assert seen == [torch.float32, torch.float32]
    assert z.grad.dtype == dtype


# --- refusals ----------------------------------------------------------------------------------


class LikeNnunet(nn.Module):
    def __init__(self, apply_nonlin):
        super().__init__()
        self.apply_nonlin = apply_nonlin

    def forward(self, x, y):
        return (self.apply_nonlin(x) * y).sum()


class LikeSmp(nn.Module):
    def __init__(self, from_logits):
        super().__init__()
        self.from_logits = from_logits

    def forward(self, x, y):
        return (x * y).sum()


class Inside(nn.Module):
    """A loss that holds another one."""

    def __init__(self, part):
        super().__init__()
        self.part = part

    def forward(self, p, y):
        return self.part(p, y)


@pytest.mark.parametrize(
    ("loss", "says"),
    [
        (lambda: monai.losses.DiceLoss(softmax=True), "softmax=False"),
        (lambda: monai.losses.DiceLoss(sigmoid=True), "sigmoid=False"),
        (lambda: monai.losses.DiceLoss(other_act=torch.tanh), "other_act=None"),
        (lambda: monai.losses.TverskyLoss(softmax=True), "softmax=False"),
        (lambda: monai.losses.GeneralizedDiceLoss(sigmoid=True), "sigmoid=False"),
        (lambda: monai.losses.MaskedDiceLoss(softmax=True), "softmax=False"),
        (lambda: LikeNnunet(torch.sigmoid), "apply_nonlin=None"),
        (lambda: LikeSmp(from_logits=True), "from_logits=False"),
        (lambda: Inside(monai.losses.DiceLoss(softmax=True)), "softmax=False"),
    ],
)
def test_a_loss_with_its_own_activation_names_the_argument(loss, says):
    with pytest.raises(ValueError, match=rf"region_loss: .*applies its own.*Build it with {says}"):
        Surgery(loss())


@pytest.mark.parametrize(
    "loss",
    [
        monai.losses.DiceCELoss,
        lambda: monai.losses.DiceCELoss(softmax=True),
        monai.losses.DiceFocalLoss,
        nn.CrossEntropyLoss,
        nn.BCEWithLogitsLoss,
        nn.NLLLoss,
        lambda: Inside(nn.CrossEntropyLoss()),
        lambda: F.cross_entropy,
        lambda: F.binary_cross_entropy_with_logits,
        lambda: F.nll_loss,
        lambda: functools.partial(functools.partial(F.cross_entropy, label_smoothing=0.1)),
        lambda: functools.partial(nn.CrossEntropyLoss()),
    ],
)
def test_a_loss_that_needs_logits(loss):
    with pytest.raises(ValueError, match=r"region_loss: contains \w+, which expects logits"):
        Surgery(loss())


def test_a_loss_whose_softmax_cannot_be_turned_off():
    loss = monai.losses.GeneralizedWassersteinDiceLoss(1 - np.eye(2))
    for found in (loss, Inside(loss)):
        with pytest.raises(ValueError, match=r"region_loss: Generalized\w+ always applies its own"):
            Surgery(found)


@pytest.mark.parametrize("name", ["dice", "dice-surgery", "ce+dice", "ce", "svls+dice"])
def test_our_own_losses(name):
    with pytest.raises(TypeError, match=r"region_loss: \w+ of gradsurge takes logits"):
        Surgery(make_loss(name))
    with pytest.raises(TypeError, match=r"region_loss: \w+ of gradsurge takes logits"):
        Surgery(Inside(make_loss(name)))


def test_a_loss_with_its_own_ignore_index():
    with pytest.raises(ValueError, match=r"region_loss: .*ignore_index=255.*to Surgery"):
        Surgery(monai.losses.DiceLoss(ignore_index=255))


def test_what_cannot_be_called():
    with pytest.raises(TypeError, match=r"region_loss: expected a callable .*got str"):
        Surgery("dice")


@pytest.mark.parametrize(
    "harmless", [LikeNnunet(None), LikeSmp(from_logits=False), F.binary_cross_entropy]
)
def test_losses_of_probabilities_are_taken(harmless):
    Surgery(harmless)


@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_passed_as_logits(classes):
    p = torch.randn(2, classes, 8, 9).softmax(dim=1)
    target = torch.randint(0, classes, (2, 8, 9))
    with pytest.raises(ValueError, match=r"logits: expected raw network outputs.*sum to 1"):
        Surgery(monai.losses.DiceLoss())(p, target)
    Surgery(monai.losses.DiceLoss(), check=False)(p, target)
    Surgery(monai.losses.DiceLoss())(p + 0.01, target)  # in [0, 1], but no distribution


def test_sigmoid_probabilities_passed_as_logits():
    p = torch.randn(2, 2, 8, 9).sigmoid()
    target = F.one_hot(torch.randint(0, 2, (2, 8, 9)), 2).movedim(-1, 1)
    with pytest.raises(ValueError, match=r"logits: expected raw network outputs.*\[0, 1\]"):
        Surgery(monai.losses.DiceLoss(), "sigmoid")(p, target)
    Surgery(monai.losses.DiceLoss(), "sigmoid")(p - 0.1, target)


def test_one_voxel_that_is_no_probability_is_enough():
    # A sample of the voxels decides first; a large batch has some that are not in it.
    p = torch.randn(1, 2, 70, 70).softmax(dim=1)
    p[0, :, -1, -1] = 3.0
    Surgery(monai.losses.DiceLoss())(p, torch.zeros(1, 70, 70))
