"""Every entry point refuses what it cannot use, and says argument, expectation and what came."""

import re

import pytest
import torch
from torch import nn

from gradsurge import (
    Dice,
    Surgery,
    SurgeryRule,
    WithCrossEntropy,
    make_loss,
    surgery_sigmoid,
    surgery_softmax,
)


def probabilities_dice(p, y):
    return 1 - 2 * (p * y).sum() / (p + y).sum()


def softmax_entries(check=True, ignore_index=None):
    """Everything that takes logits and class indices; called as entry(logits, target, mask)."""
    common = {"check": check, "ignore_index": ignore_index}
    return {
        "surgery_softmax": lambda z, y, m=None: surgery_softmax(z, y, mask=m, **common),
        "Dice": Dice(**common),
        "Dice with surgery": Dice(surgery=SurgeryRule(), **common),
        "WithCrossEntropy": WithCrossEntropy(Dice(surgery=SurgeryRule(), **common)),
        "Surgery": Surgery(probabilities_dice, **common),
    }


def sigmoid_entries(check=True):
    common = {"check": check}
    return {
        "surgery_sigmoid": lambda z, y, m=None: surgery_sigmoid(z, y, mask=m, **common),
        "Dice": Dice(activation="sigmoid", **common),
        "WithCrossEntropy": WithCrossEntropy(
            Dice(activation="sigmoid", surgery=SurgeryRule(), **common)
        ),
        "Surgery": Surgery(probabilities_dice, "sigmoid", **common),
    }


@pytest.mark.parametrize("value", [True, 1.5, "255"])
def test_ignore_index_is_a_whole_number(value):
    with pytest.raises(TypeError, match=r"ignore_index: expected a whole number or None, got"):
        surgery_softmax(logits(2, 3, 4), labels(2, 4), ignore_index=value)


softmax_entry = pytest.mark.parametrize("entry", list(softmax_entries()))
sigmoid_entry = pytest.mark.parametrize("entry", list(sigmoid_entries()))


def logits(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0)) * 3


def labels(*shape, classes=3):
    return torch.randint(0, classes, shape, generator=torch.Generator().manual_seed(0))


WRONG_FOR_ANY = [
    ("no tensor", lambda: [1.0], None, TypeError, r"logits: expected a torch\.Tensor, got list"),
    ("integer", lambda: labels(2, 3, 4), None, TypeError, r"logits: .*floating.*got torch\.int64"),
    (
        "complex",
        lambda: torch.zeros(2, 3, 4, dtype=torch.complex64),
        None,
        TypeError,
        r"logits: .*floating.*torch\.complex64",
    ),
    (
        "no spatial axis",
        lambda: logits(2, 3),
        None,
        ValueError,
        r"logits: .*\(N, C, \*S\).*\(2, 3\)",
    ),
    (
        "four spatial axes",
        lambda: logits(2, 3, 1, 1, 1, 1),
        None,
        ValueError,
        r"logits: .*got shape \(2, 3, 1, 1, 1, 1\)",
    ),
    ("empty batch", lambda: logits(0, 3, 4), None, ValueError, r"logits: .*voxel.*\(0, 3, 4\)"),
    ("empty volume", lambda: logits(2, 3, 0), None, ValueError, r"logits: .*voxel.*\(2, 3, 0\)"),
    (
        "target is no tensor",
        lambda: logits(2, 3, 4),
        lambda: [[0, 1]],
        TypeError,
        r"target: expected a torch\.Tensor, got list",
    ),
    (
        "complex target",
        lambda: logits(2, 3, 4),
        lambda: torch.zeros(2, 3, 4, dtype=torch.complex64),
        TypeError,
        r"target: .*got torch\.complex64",
    ),
    (
        "other device",
        lambda: logits(2, 3, 4),
        lambda: torch.zeros(2, 3, 4, device="meta"),
        ValueError,
        r"target: .*logits' device cpu, got meta; call target\.to",
    ),
    (
        "wrong voxels",
        lambda: logits(2, 3, 4),
        lambda: torch.zeros(2, 3, 5),
        ValueError,
        r"target: .*\(2, 3, 4\).*got \(2, 3, 5\)",
    ),
    (
        "wrong batch",
        lambda: logits(2, 3, 4),
        lambda: torch.zeros(1, 3, 4),
        ValueError,
        r"target: .*\(2, 3, 4\).*got \(1, 3, 4\)",
    ),
    (
        "wrong channel count",
        lambda: logits(2, 3, 4),
        lambda: torch.zeros(2, 2, 4),
        ValueError,
        r"target: .*\(2, 3, 4\).*got \(2, 2, 4\)",
    ),
]


@pytest.mark.parametrize(
    ("make_logits", "make_target", "error", "says"),
    [case[1:] for case in WRONG_FOR_ANY],
    ids=[case[0] for case in WRONG_FOR_ANY],
)
@pytest.mark.parametrize("activation", ["softmax", "sigmoid"])
@pytest.mark.parametrize("check", [True, False])
def test_shapes_dtypes_devices(activation, make_logits, make_target, error, says, check):
    entries = softmax_entries(check) if activation == "softmax" else sigmoid_entries(check)
    for entry in entries.values():
        target = labels(2, 3, 4) if make_target is None else make_target()
        with pytest.raises(error, match=says):
            entry(make_logits(), target)


@softmax_entry
@pytest.mark.parametrize("shape", [(2, 1, 4), (2, 1, 4, 5)])
def test_one_channel_has_no_softmax(entry, shape):
    target = labels(2, *shape[2:], classes=2)
    with pytest.raises(ValueError, match=r"logits: softmax needs C >= 2 .*use the sigmoid"):
        softmax_entries()[entry](logits(*shape), target)


@softmax_entry
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.int64, torch.float32])
def test_a_255_in_a_mask(entry, dtype):
    target = labels(2, 4, 5).to(dtype)
    target[1, 2, 3] = 255
    with pytest.raises(ValueError, match=r"target: expected labels 0\.\.2, got 255.*ignore_index"):
        softmax_entries()[entry](logits(2, 3, 4, 5), target)
    softmax_entries(ignore_index=255)[entry](logits(2, 3, 4, 5), target)


@softmax_entry
def test_a_label_beside_the_ignored_one_is_still_found(entry):
    target = labels(2, 4, 5)
    target[0, 0, 0], target[1, 1, 1] = 255, 7
    with pytest.raises(ValueError, match=r"target: expected labels 0\.\.2 or 255, got 7"):
        softmax_entries(ignore_index=255)[entry](logits(2, 3, 4, 5), target)


@softmax_entry
def test_negative_labels(entry):
    target = labels(2, 4, 5)
    target[0, 0, 0] = -1
    with pytest.raises(ValueError, match=r"target: expected labels 0\.\.2, got -1"):
        softmax_entries()[entry](logits(2, 3, 4, 5), target)


@softmax_entry
@pytest.mark.parametrize("value", [0.5, torch.nan, torch.inf])
def test_fractional_and_non_finite_labels(entry, value):
    target = labels(2, 4, 5).float()
    target[0, 0, 0] = value
    with pytest.raises(ValueError, match=r"target: expected whole class numbers, got fractions"):
        softmax_entries()[entry](logits(2, 3, 4, 5), target)


@softmax_entry
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64])
def test_one_hot_labels_that_are_not(entry, dtype):
    target = torch.ones(2, 3, 4, dtype=dtype)
    with pytest.raises(ValueError, match=r"target: expected hard one-hot labels"):
        softmax_entries()[entry](logits(2, 3, 4), target)


@softmax_entry
def test_two_soft_channels_must_be_shares(entry):
    for wrong in (torch.ones(2, 2, 4), torch.zeros(2, 2, 4)):
        with pytest.raises(ValueError, match=r"target: expected two channels that sum to 1"):
            softmax_entries()[entry](logits(2, 2, 4), wrong)
    outside = torch.tensor([-0.5, 1.5]).view(1, 2, 1).expand(2, 2, 4)
    with pytest.raises(ValueError, match=r"target: expected labels in \[0, 1\], got .*-0.5 to 1.5"):
        softmax_entries()[entry](logits(2, 2, 4), outside)


@softmax_entry
def test_ignore_index_needs_indices(entry):
    one_hot = torch.eye(3)[labels(2, 4)].movedim(-1, 1)
    with pytest.raises(ValueError, match="ignore_index: needs class indices as target"):
        softmax_entries(ignore_index=255)[entry](logits(2, 3, 4), one_hot)


@sigmoid_entry
@pytest.mark.parametrize("value", [255, -1])
def test_channel_labels_outside_the_unit_interval(entry, value):
    for dtype in (torch.int64, torch.float32):
        target = labels(2, 3, 4, classes=2).to(dtype)
        target[0, 0, 0] = value
        with pytest.raises(ValueError, match=rf"target: expected labels in \[0, 1\].*{value}"):
            sigmoid_entries()[entry](logits(2, 3, 4), target)


@pytest.mark.parametrize("activation", ["softmax", "sigmoid"])
def test_nan_logits(activation):
    entries = softmax_entries() if activation == "softmax" else sigmoid_entries()
    for classes in (2, 3):
        z = logits(2, classes, 4)
        z[1, 0, 2] = torch.nan
        target = labels(2, 4, classes=2)
        if activation == "sigmoid":
            target = labels(2, classes, 4, classes=2)
        for entry in entries.values():
            with pytest.raises(ValueError, match=r"logits: .*NaN, 1 times in shape"):
                entry(z, target)


def test_infinite_logits_are_no_nan():
    z = logits(2, 3, 4)
    z[:, 2, 0] = -torch.inf  # a class that is ruled out
    surgery_softmax(z, labels(2, 4, classes=2))
    surgery_sigmoid(z.clamp_min(torch.inf), labels(2, 3, 4, classes=2))
    z[:, 0, 1] = torch.inf
    with pytest.raises(ValueError, match=r"got \+inf, 2 times in shape \(2, 3, 4\)"):
        surgery_softmax(z, labels(2, 4, classes=2))
    z[:, :, 1] = -torch.inf
    with pytest.raises(ValueError, match=r"-inf in every channel of a voxel, 2 times"):
        surgery_softmax(z, labels(2, 4, classes=2))


@pytest.mark.parametrize("activation", ["softmax", "sigmoid"])
def test_masks(activation):
    entries = softmax_entries() if activation == "softmax" else sigmoid_entries()
    z = logits(2, 3, 4)
    target = labels(2, 3, 4, classes=2) if activation == "sigmoid" else labels(2, 4)
    for entry in entries.values():
        with pytest.raises(ValueError, match=r"mask: .*got \(2, 5\)"):
            entry(z, target, torch.ones(2, 5))
        with pytest.raises(ValueError, match=r"mask: .*device cpu, got meta"):
            entry(z, target, torch.ones(2, 4, device="meta"))
        with pytest.raises(TypeError, match=r"mask: expected a torch\.Tensor, got list"):
            entry(z, target, [[1, 1, 1, 1]])
        if activation == "softmax":
            with pytest.raises(ValueError, match=r"mask: softmax needs one value a voxel"):
                entry(z, target, torch.ones(2, 3, 4))


def test_value_checks_can_be_turned_off():
    z, nan, wrong = logits(2, 3, 4), logits(2, 3, 4), labels(2, 4)
    nan[0, 0, 0], wrong[0, 0] = torch.nan, 255
    for entry in softmax_entries(check=False).values():
        assert entry(nan, labels(2, 4)).isnan().any()
        entry(z, wrong)
    for entry in sigmoid_entries(check=False).values():
        entry(z, labels(2, 3, 4, classes=2) * 255)
        assert entry(nan, labels(2, 3, 4, classes=2)).isnan().any()


@pytest.mark.parametrize("blend", [-0.01, 1.01, torch.nan])
def test_blend_outside_its_range(blend):
    z, target = logits(2, 2, 4), labels(2, 4, classes=2)
    says = "blend: expected a number from 0"
    with pytest.raises(ValueError, match=says):
        surgery_softmax(z, target, blend=blend)
    with pytest.raises(ValueError, match=says):
        surgery_sigmoid(z, labels(2, 2, 4, classes=2), blend=blend)
    for loss in (
        Dice(surgery=SurgeryRule()),
        WithCrossEntropy(Dice(surgery=SurgeryRule())),
        Surgery(probabilities_dice),
    ):
        with pytest.raises(ValueError, match=says):
            loss.blend = blend
        assert loss.blend == 1.0


@pytest.mark.parametrize("value", ["sample", None, 1, 0, 0.5, [True]])
def test_normalise_is_true_false_or_batch(value):
    z, target = logits(2, 2, 4), labels(2, 4, classes=2)
    says = rf"normalise: expected True, False or 'batch', got {re.escape(repr(value))}$"
    for entry in (
        lambda: SurgeryRule(normalise=value),
        lambda: surgery_softmax(z, target, normalise=value),
        lambda: surgery_sigmoid(z, labels(2, 2, 4, classes=2), normalise=value),
        lambda: Surgery(probabilities_dice, normalise=value),
        lambda: make_loss("ce+dice-surgery", normalise=value),
    ):
        with pytest.raises((ValueError, TypeError), match=says):
            entry()


@pytest.mark.parametrize("value", [0, -1.0, torch.inf, torch.nan])
@pytest.mark.parametrize("name", ["decline", "scale"])
def test_decline_and_scale_must_be_positive(name, value):
    z, target = logits(2, 2, 4), labels(2, 4, classes=2)
    says = rf"{name}: expected a number > 0.*got {value}"
    with pytest.raises(ValueError, match=says):
        SurgeryRule(**{name: value})
    with pytest.raises(ValueError, match=says):
        surgery_softmax(z, target, **{name: value})
    with pytest.raises(ValueError, match=says):
        surgery_sigmoid(z, labels(2, 2, 4, classes=2), **{name: value})
    with pytest.raises(ValueError, match=says):
        Surgery(nn.Identity(), **{name: value})


def test_parameters_that_are_no_numbers():
    with pytest.raises(TypeError, match=r"scale: expected a number > 0, got None"):
        SurgeryRule(scale=None)
    with pytest.raises(TypeError, match=r"decline: expected a number > 0 or None .*got '20'"):
        SurgeryRule(decline="20")
    with pytest.raises(TypeError, match=r"blend: expected a number .*got None"):
        surgery_softmax(logits(2, 2, 4), labels(2, 4, classes=2), blend=None)
