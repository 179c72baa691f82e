"""Region losses: fused against composed, against MONAI, and against finite differences."""

import pytest
import torch
from monai.losses import DiceLoss, GeneralizedDiceLoss, TverskyLoss

from gradsurge.losses import Dice, FocalTversky, GeneralisedDice, Jaccard, Tversky
from gradsurge.surgery import SurgeryRule
from tests.losses.composed import REGION, composed_loss, make_batch, value_and_gradient
from tests.properties.asserts import assert_points_to_label, assert_sums_to_zero

KINDS = ["two", "three", "sigmoid"]
# The rule for more than two classes takes hard labels only.
KINDS_AND_LABELS = [
    (kind, labels)
    for kind in KINDS
    for labels in ("hard", "soft", "masked", "ignored")
    if (kind, labels) != ("three", "soft")
]
RULES = [
    None,
    SurgeryRule(decline=20.0, scale=0.25, normalise=False),
    SurgeryRule(decline=None, scale=0.5, normalise=True),
    SurgeryRule(decline=7.5, scale=0.25, normalise="batch"),
]
OPTIONS = {
    "defaults": {},
    "batch": {"batch": True},
    "background": {"include_background": True},
    "weights": {"class_weights": [0.5, 2.0, 1.25]},
    "all": {"batch": True, "include_background": True, "class_weights": [0.5, 2.0, 1.25]},
}


def adapted(options, kind):
    """Cut the class weights to the number of classes."""
    weights = options.get("class_weights")
    cut = {} if weights is None else {"class_weights": weights[: 3 if kind == "three" else 2]}
    return {**options, **cut}


def both(name, kind, batch, options, rule, blend=1.0):
    """Return value and gradient of our fused loss and of its composition."""
    activation = "sigmoid" if kind == "sigmoid" else "softmax"
    options = adapted(options, kind)
    cls, own, _ = REGION[name]
    loss = cls(
        activation=activation, surgery=rule, ignore_index=batch.ignore_index, **own, **options
    )
    if rule is not None:
        loss.blend = blend
    fused = value_and_gradient(loss, batch.logits, batch.target, batch.mask)
    composed_options = {("over_batch" if k == "batch" else k): v for k, v in options.items()}
    composed = value_and_gradient(
        lambda z: composed_loss(
            z, batch, name, activation=activation, surgery=rule, blend=blend, **composed_options
        ),
        batch.logits,
    )
    return fused, composed


@pytest.mark.parametrize("name", list(REGION))
@pytest.mark.parametrize(("kind", "labels"), KINDS_AND_LABELS)
@pytest.mark.parametrize("options", list(OPTIONS))
def test_fused_is_composed(name, kind, options, labels):
    batch = make_batch(kind, labels)
    for rule in RULES:
        fused, composed = both(name, kind, batch, OPTIONS[options], rule)
        torch.testing.assert_close(fused, composed, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", list(REGION))
@pytest.mark.parametrize("kind", KINDS)
def test_fused_is_composed_while_blending(name, kind):
    for order, blend in enumerate((0.0, 0.35, 0.8)):
        fused, composed = both(name, kind, make_batch(kind), {}, RULES[1 + order], blend)
        torch.testing.assert_close(fused, composed, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", list(REGION))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rule", [None, SurgeryRule(20.0, 0.25, normalise=True)])
def test_fused_is_composed_in_float32(name, kind, rule):
    batch = make_batch(kind, "masked", torch.float32)
    fused, composed = both(name, kind, batch, {}, rule)
    assert fused[0].dtype == fused[1].dtype == torch.float32
    torch.testing.assert_close(fused, composed, rtol=5e-6, atol=1e-7)


@pytest.mark.parametrize("name", list(REGION))
@pytest.mark.parametrize(("kind", "labels"), KINDS_AND_LABELS)
def test_gradcheck_without_surgery(name, kind, labels):
    batch = make_batch(kind, labels)
    cls, own, _ = REGION[name]
    activation = "sigmoid" if kind == "sigmoid" else "softmax"
    loss = cls(activation=activation, ignore_index=batch.ignore_index, **own)
    z = batch.logits[:2, :, :2].clone().requires_grad_()
    y = batch.target[..., :2, :][:2]
    mask = None if batch.mask is None else batch.mask[:2, :, :2]
    assert torch.autograd.gradcheck(lambda z: loss(z, y, mask), (z,))


@pytest.mark.parametrize("name", list(REGION))
@pytest.mark.parametrize("kind", ["two", "three"])
def test_the_field_sums_to_zero_and_points_to_the_label(name, kind):
    batch = make_batch(kind)
    cls, own, _ = REGION[name]
    loss = cls(surgery=SurgeryRule(normalise=kind == "two"), **own)
    _, field = value_and_gradient(loss, batch.logits, batch.target)
    assert_sums_to_zero(field)
    assert_points_to_label(field, batch.target)


@pytest.mark.parametrize("normalise", [False, True])
def test_dice_gradient_is_its_closed_form_with_the_true_sign(normalise):
    batch = make_batch("two")
    loss = Dice(surgery=SurgeryRule(None, 0.25, normalise=normalise), batch=True)
    _, field = value_and_gradient(loss, batch.logits, batch.target)
    p, y = batch.logits.softmax(1)[:, 1], batch.target.double()
    size, twice = p.sum() + y.sum() + 1e-5, 2 * (p * y).sum() + 1e-5
    slope = -(2 * y * size - twice) / size**2
    assert bool((slope[y == 1] < 0).all() and (slope[y == 0] > 0).all())
    factor = (p.sum() + y.sum()) / (2 * y.sum()) if normalise else 1.0
    torch.testing.assert_close(field[:, 1], 0.25 * (y - p).abs() * slope * factor)


# --- MONAI -------------------------------------------------------------------------------------


def monai_pairs(include_background, batch, activation):
    """Our losses without surgery beside MONAI's."""
    theirs = {"include_background": include_background, "batch": batch, activation: True}
    ours = {"include_background": include_background, "batch": batch, "activation": activation}
    if activation == "sigmoid":  # our channels have no background to leave out
        theirs["include_background"] = True
    tversky = {"alpha": 0.3, "beta": 0.7, "smooth_nr": 1e-5, "smooth_dr": 1e-5}
    # MONAI's Jaccard doubles numerator and denominator, so its smoothing counts half.
    twice = {"smooth_nr": 2e-5, "smooth_dr": 2e-5}
    return {
        "dice": (Dice(**ours), DiceLoss(**theirs)),
        "tversky": (Tversky(a=0.3, **ours), TverskyLoss(**theirs, **tversky)),
        "jaccard": (Jaccard(**ours), DiceLoss(jaccard=True, **theirs, **twice)),
        "generalised-dice": (GeneralisedDice(**ours), GeneralizedDiceLoss(**theirs)),
    }


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("include_background", [True, False])
@pytest.mark.parametrize("batch", [True, False])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("name", ["dice", "tversky", "jaccard", "generalised-dice"])
def test_without_surgery_equal_to_monai(kind, include_background, batch, dtype, name):
    # In the batch, one sample lacks the last class: MONAI and we give it the largest weight of the
    # classes present in generalised Dice. Its weights are float32, hence the room.
    data = make_batch(kind, dtype=dtype)
    activation = "sigmoid" if kind == "sigmoid" else "softmax"
    ours, theirs = monai_pairs(include_background, batch, activation)[name]
    if name == "generalised-dice" and kind == "two" and not include_background and not batch:
        # One class, absent from the first sample: see the test below.
        data = make_batch(kind, dtype=dtype)
        data.target[0, 0, 0], data.channels[0, :, 0, 0] = 1, torch.tensor([0, 1], dtype=dtype)
    room = {"rtol": 1e-6, "atol": 1e-8} if dtype == torch.float64 else {"rtol": 1e-5, "atol": 1e-7}
    expected = value_and_gradient(theirs, data.logits, data.channels)
    found = value_and_gradient(ours, data.logits, data.target)
    torch.testing.assert_close(found, expected, **room)


def test_generalised_dice_without_any_class_differs_from_monai():
    # No class of the sample is present: MONAI weighs them all with 0 and learns nothing from false
    # positives. Ours weighs them all with 1, which is plain Dice.
    logits = torch.randn(1, 3, 4, dtype=torch.float64)
    nothing = torch.zeros(1, 4, dtype=torch.int64)
    one_hot = torch.nn.functional.one_hot(nothing, 3).movedim(-1, 1)
    theirs = GeneralizedDiceLoss(softmax=True, include_background=False)
    value, gradient = value_and_gradient(theirs, logits, one_hot)
    assert value == 0
    assert torch.equal(gradient, torch.zeros_like(gradient))
    value, gradient = value_and_gradient(GeneralisedDice(), logits, nothing)
    predicted = logits.softmax(1)[:, 1:].sum()
    torch.testing.assert_close(value, 1 - 1e-5 / (predicted + 1e-5))
    assert bool((gradient[:, 1:] > 0).all())


def test_class_weights_are_a_weighted_mean_where_monai_divides_by_the_number_of_classes():
    data, weights = make_batch("three"), [0.5, 2.0, 1.0]
    theirs = DiceLoss(softmax=True, include_background=True, weight=weights)
    expected = theirs(data.logits, data.channels) * 3 / sum(weights)
    ours = Dice(include_background=True, class_weights=weights)
    torch.testing.assert_close(ours(data.logits, data.target), expected)


def test_focal_tversky_is_a_power_of_tversky_a_class():
    data = make_batch("three")
    scores = TverskyLoss(
        softmax=True, alpha=0.3, beta=0.7, reduction="none", smooth_nr=1e-5, smooth_dr=1e-5
    )(data.logits, data.channels)
    ours = FocalTversky(gamma=0.75, a=0.3, include_background=True)
    torch.testing.assert_close(ours(data.logits, data.target), (scores**0.75).mean())


# --- corners -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(REGION))
@pytest.mark.parametrize("rule", [None, SurgeryRule()])
def test_perfect_empty_and_full_samples_have_finite_gradients(name, rule):
    cls, own, _ = REGION[name]
    z = torch.full((2, 2, 6), 40.0)
    z[:, 1] = -40.0
    for fill in (0, 1):
        target = torch.full((2, 6), fill)
        value, gradient = value_and_gradient(cls(surgery=rule, **own), z, target)
        assert bool(value.isfinite())
        assert bool(gradient.isfinite().all())


def test_everything_ignored_counts_as_nothing():
    z = torch.randn(2, 3, 6)
    target = torch.full((2, 6), 255)
    for rule in (None, SurgeryRule()):
        loss = Dice(surgery=rule, ignore_index=255)
        value, gradient = value_and_gradient(loss, z, target)
        assert value == 0
        assert torch.equal(gradient, torch.zeros_like(gradient))


def test_options_that_make_no_sense():
    with pytest.raises(ValueError, match="activation: expected 'softmax' or 'sigmoid', got 'relu'"):
        Dice(activation="relu")
    with pytest.raises(ValueError, match="smooth: expected a number > 0, got -1"):
        Dice(smooth=-1.0)
    with pytest.raises(ValueError, match="ignore_index: with sigmoid, 0 and 1 are labels"):
        Dice(activation="sigmoid", ignore_index=1)
    with pytest.raises(ValueError, match="a, b: expected weights >= 0"):
        Tversky(a=1.5)
    with pytest.raises(ValueError, match="gamma: expected a number > 0, got 0"):
        FocalTversky(gamma=0)
    with pytest.raises(ValueError, match="class_weights: expected one finite number >= 0 a class"):
        Dice(class_weights=[1.0, -1.0])
    with pytest.raises(ValueError, match=r"class_weights: 2 classes need 2 weights"):
        Dice(class_weights=[1.0, 1.0, 1.0])(torch.zeros(1, 2, 4), torch.zeros(1, 4))
    with pytest.raises(ValueError, match="blend: this loss has no surgery to blend"):
        Dice().blend = 0.5
    assert Dice().blend == 0.0
    with pytest.raises(ValueError, match="equilibrium: only a loss with surgery"):
        Dice().equilibrium_shift()


@pytest.mark.parametrize("smooth", [1e-5, 1e-9])
def test_generalised_dice_fades_on_large_structures_as_its_docstring_says(smooth):
    voxels = 32**3
    logits, target = torch.zeros(1, 2, voxels + 10), torch.ones(1, voxels + 10).long()
    logits[:, 0], target[:, voxels:] = 60.0, 0  # no foreground predicted
    found = GeneralisedDice(smooth=smooth)(logits, target).item()
    assert found == pytest.approx(1 / (1 + smooth * voxels), rel=1e-5)
