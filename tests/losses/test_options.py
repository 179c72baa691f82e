"""What a loss is built with: a refusal names the argument, what it expects, and what came."""

import re

import numpy as np
import pytest
import torch
from monai.losses import DiceLoss

from gradsurge import (
    DeepSupervision,
    Surgery,
    SurgeryRule,
    WithCrossEntropy,
    surgery_sigmoid,
    surgery_softmax,
)
from gradsurge.losses import (
    ACE,
    NACL,
    SVLS,
    CrossEntropy,
    Dice,
    DicePlusPlus,
    FocalTversky,
    Tversky,
    WeightedSum,
)

WRONG_TYPES = ["x", None, True, [1.0], 1j]
NUMBERS = [
    (Dice, "smooth"),
    (DicePlusPlus, "smooth"),
    (DicePlusPlus, "gamma"),
    (FocalTversky, "gamma"),
    (SVLS, "sigma"),
    (NACL, "strength"),
    (Tversky, "a"),
    (FocalTversky, "a"),
    (ACE, "bins"),
]


@pytest.mark.parametrize(("cls", "name"), NUMBERS)
@pytest.mark.parametrize("value", WRONG_TYPES)
def test_what_is_no_number(cls, name, value):
    message = rf"{name}: expected a (whole )?number >=? \d, got {re.escape(repr(value))}$"
    with pytest.raises(TypeError, match=message):
        cls(**{name: value})


@pytest.mark.parametrize(("cls", "name"), NUMBERS)
@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_numbers_that_make_no_sense(cls, name, value):
    with pytest.raises(ValueError, match=rf"{name}\b.*: expected .*{value!r}"):
        cls(**{name: value})


@pytest.mark.parametrize(("cls", "name"), NUMBERS)
def test_numpys_numbers_are_numbers(cls, name):
    assert getattr(cls(**{name: np.float64(1.0)}), name) == 1


def test_b_is_checked_as_a_is():
    with pytest.raises(TypeError, match="b: expected a number >= 0, got 'x'"):
        Tversky(a=0.5, b="x")
    with pytest.raises(ValueError, match=r"a, b: expected weights >= 0 .*a=2.0, b=-1.0"):
        Tversky(a=2.0)


def test_bins_are_whole():
    with pytest.raises(ValueError, match=r"bins: expected a whole number >= 1, got 2\.5"):
        ACE(bins=2.5)


@pytest.mark.parametrize("make", [WithCrossEntropy, lambda r, w: WeightedSum(r, r, w)])
@pytest.mark.parametrize("weights", [0.5, None, {0.5, 1.0}])
def test_weights_of_two_terms(make, weights):
    with pytest.raises(TypeError, match=r"weights: expected two numbers.* got " + repr(weights)):
        make(Dice(), weights)
    with pytest.raises(TypeError, match="weights: expected a number >= 0, got 'x'"):
        make(Dice(), (1.0, "x"))


@pytest.mark.parametrize("cls", [Dice, CrossEntropy, ACE])
@pytest.mark.parametrize("weights", ["x", ["a", "b"], [1.0, None], object()])
def test_class_weights_that_are_no_numbers(cls, weights):
    with pytest.raises(TypeError, match=r"class_weights: expected one finite number.*; got "):
        cls(class_weights=weights)


@pytest.mark.parametrize("levels", [2.5, None, True])
def test_levels(levels):
    with pytest.raises(TypeError, match=f"levels: expected a whole number >= 1.*got {levels}"):
        DeepSupervision(Dice(), levels)


def test_levels_leave_the_finest_in():
    for levels in ([0.0, 1.0], -1, 0):
        with pytest.raises(ValueError, match=r"levels: expected .*the finest.*> 0"):
            DeepSupervision(Dice(), levels)
    with pytest.raises(TypeError, match="levels: expected a number >= 0, got 'x'"):
        DeepSupervision(Dice(), [1.0, "x"])


@pytest.mark.parametrize("region", [DiceLoss(), Surgery(DiceLoss()), CrossEntropy(), SurgeryRule()])
def test_cross_entropy_goes_with_a_region_loss(region):
    kind = type(region).__name__
    with pytest.raises(TypeError, match=rf"region: expected a region loss .*got {kind}; Weighted"):
        WithCrossEntropy(region)


@pytest.mark.parametrize("cls", [Dice, CrossEntropy, DicePlusPlus, ACE, SVLS, NACL])
@pytest.mark.parametrize("value", ["255", 255.0, True, [255]])
def test_ignore_index_is_a_whole_number(cls, value):
    with pytest.raises(TypeError, match=r"ignore_index: expected a whole number or None, got "):
        cls(ignore_index=value)


def test_numpys_integers_are_whole_numbers():
    assert CrossEntropy(ignore_index=np.int64(255)).ignore_index == 255
    assert len(DeepSupervision(Dice(), np.int64(3)).losses) == 3


@pytest.mark.parametrize(("value", "error"), [("x", TypeError), (0, ValueError), (2.5, ValueError)])
def test_classes_of_a_surgery_loss(value, error):
    says = rf"classes: expected a whole number >= 2, got {value!r}"
    with pytest.raises(error, match=says):
        Dice(surgery=SurgeryRule(), classes=value)
    with pytest.raises(error, match=says):
        Surgery(sum, classes=value)
    assert Dice(activation="sigmoid", surgery=SurgeryRule(), classes=1).meter.totals.shape[0] == 1


@pytest.mark.parametrize("name", ["decline", "scale"])
def test_a_flag_is_no_number_of_a_rule(name):
    with pytest.raises(TypeError, match=f"{name}: expected a number > 0.*, got True"):
        SurgeryRule(**{name: True})


@pytest.mark.parametrize("cls", [SVLS, NACL])
def test_losses_of_a_neighbourhood_refuse_a_mask(cls):
    z, y = torch.zeros(1, 2, 4), torch.zeros(1, 4).long()
    says = f"mask: {cls.__name__} takes no mask; use ignore_index"
    for loss in (cls(), WeightedSum(cls(), Dice()), DeepSupervision(cls(), 1)):
        logits = [z] if isinstance(loss, DeepSupervision) else z
        with pytest.raises(TypeError, match=says):
            loss(logits, y, mask=y == 0)


@pytest.mark.parametrize(
    ("region_loss", "came"),
    [(lambda p, y: p * y, r"shape \(1, 2, 4\)"), (lambda p, y: (p * y).sum().item(), "float")],
)
def test_a_wrapped_loss_returns_a_scalar(region_loss, came):
    with pytest.raises(
        ValueError, match=f"region_loss: expected to return a scalar tensor.*{came}"
    ):
        Surgery(region_loss)(torch.zeros(1, 2, 4), torch.zeros(1, 4).long())


def test_a_wrapped_loss_without_reduction_returns_what_it_says():
    loss = Surgery(DiceLoss(reduction="none"))
    assert loss(torch.zeros(3, 2, 4), torch.zeros(3, 4).long()).shape == (3, 2, 1)


@pytest.mark.parametrize(
    ("outputs", "came"),
    [([torch.zeros(1, 2, 4), None], "NoneType as output 1"), (None, "NoneType")],
)
def test_outputs_that_are_no_tensors(outputs, came):
    with pytest.raises(TypeError, match=f"outputs: expected 2 logit tensors, .*got {came}"):
        DeepSupervision(Dice(), 2)(outputs, torch.zeros(1, 4).long())
    coarse_unused = DeepSupervision(Dice(), [1.0, 0.0])
    assert coarse_unused([torch.zeros(1, 2, 4), None], torch.zeros(1, 4).long()).isfinite()


FLAGS = [
    *((cls, name) for cls in (Dice, Tversky, DicePlusPlus) for name in ("batch", "check")),
    *((cls, "include_background") for cls in (Dice, DicePlusPlus, ACE)),
    (CrossEntropy, "check"),
]


@pytest.mark.parametrize(("cls", "name"), FLAGS)
@pytest.mark.parametrize("value", ["no", "x", 1, None])
def test_flags_are_true_or_false(cls, name, value):
    """A word that means no would have counted as yes."""
    with pytest.raises(TypeError, match=rf"{name}: expected True or False, got {value!r}"):
        cls(**{name: value})


def test_flags_of_surgery():
    with pytest.raises(TypeError, match="hard_statistics: expected True or False, got 'off'"):
        Dice(surgery=SurgeryRule(), hard_statistics="off")
    with pytest.raises(TypeError, match="check: expected True or False"):
        Surgery(DiceLoss(), check="off")


@pytest.mark.parametrize("operator", [surgery_softmax, surgery_sigmoid])
def test_flags_of_the_operators(operator):
    with pytest.raises(TypeError, match="check: expected True or False, got 'no'"):
        operator(torch.zeros(1, 2, 4), torch.zeros(1, 2, 4), check="no")


@pytest.mark.parametrize("make", [WithCrossEntropy, lambda r, w: WeightedSum(r, r, w)])
def test_two_weights_of_nothing_train_nothing(make):
    with pytest.raises(ValueError, match=r"weights: expected one of the two above 0, got \(0, 0"):
        make(Dice(), (0, 0.0))
