"""Every loss by name: one contract for all, so that a new name is tested by being listed."""

import copy
from dataclasses import asdict

import pytest
import torch
import torch.nn.functional as F

from gradsurge import LOSSES, SurgeryRule, make_loss
from gradsurge.losses import ACE, NACL, SVLS, CrossEntropy, Dice, DicePlusPlus, WeightedSum
from gradsurge.losses.strength import as_the_paper, resolved, without_the_papers
from gradsurge.losses.with_cross_entropy import CE_WEIGHTS

THE_PAPERS = {"ce", "dice", "tversky", "ce+dice", "dice++", "svls", "nacl"}
THE_PAPERS |= {"dice-surgery", "tversky-surgery", "ce+dice-surgery"}
THE_PAPERS |= {"svls+dice", "nacl+dice", "ace+dice"}
every_loss = pytest.mark.parametrize("name", LOSSES)


def batch(classes=2, spatial=(6, 5), dtype=torch.float32):
    r = torch.Generator().manual_seed(1)
    logits = (torch.randn(2, classes, *spatial, generator=r) * 2).to(dtype)
    return logits, torch.randint(0, classes, (2, *spatial), generator=r)


def gradient(loss, logits, target):
    z = logits.clone().requires_grad_()
    value = loss(z, target)
    value.backward()
    return value.detach(), z.grad


def test_the_rows_of_the_papers_tables_are_there():
    assert set(LOSSES) >= THE_PAPERS
    assert len(set(LOSSES)) == len(LOSSES)


# --- the contract ------------------------------------------------------------------------------


@every_loss
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("spatial", [(7,), (6, 5), (4, 3, 5)])
def test_a_scalar_with_a_finite_gradient(name, classes, spatial):
    logits, target = batch(classes, spatial)
    before = logits.clone(), target.clone()
    value, g = gradient(make_loss(name), logits, target)
    assert value.shape == ()
    assert bool(value.isfinite())
    assert bool(value >= 0)
    assert bool(g.isfinite().all())
    assert g.abs().max() > 0
    assert torch.equal(logits, before[0])
    assert torch.equal(target, before[1])


@every_loss
def test_better_logits_score_better(name):
    _, target = batch()
    right = F.one_hot(target, 2).movedim(-1, 1).float() * 8 - 4
    good, bad = make_loss(name)(right, target), make_loss(name)(-right, target)
    assert good < bad


@every_loss
def test_a_step_along_the_gradient_improves(name):
    logits, target = batch()
    loss = make_loss(name)
    value, g = gradient(loss, logits, target)
    assert loss(logits - 1e-2 * g / g.abs().max(), target) < value


@every_loss
def test_target_forms_agree(name):
    logits, target = batch(3)
    expected = gradient(make_loss(name), logits, target)
    one_hot = F.one_hot(target, 3).movedim(-1, 1)
    for form in (target.unsqueeze(1), target.to(torch.uint8), one_hot, one_hot.bool()):
        torch.testing.assert_close(gradient(make_loss(name), logits, form), expected)


@every_loss
def test_ignored_voxels_get_nothing(name):
    logits, target = batch(3)
    target[0, :2] = target[1, :, 3] = 255
    value, g = gradient(make_loss(name, ignore_index=255), logits, target)
    assert bool(value.isfinite())
    assert bool((g.movedim(1, -1)[target == 255] == 0).all())
    moved = torch.where(target.unsqueeze(1) == 255, logits + 3.0, logits)
    torch.testing.assert_close(make_loss(name, ignore_index=255)(moved, target), value)


@every_loss
def test_halves_and_doubles(name):
    logits, target = batch(dtype=torch.bfloat16)
    value, g = gradient(make_loss(name), logits, target)
    assert value.dtype == torch.float32
    assert g.dtype == torch.bfloat16
    value, g = gradient(make_loss(name), logits.double(), target)
    assert value.dtype == g.dtype == torch.float64


@every_loss
def test_bad_input_is_refused(name):
    logits, target = batch()
    loss = make_loss(name)
    with pytest.raises(ValueError, match=r"logits: .*\(2, 2\)"):
        loss(logits[:, :, 0, 0], target)
    with pytest.raises(TypeError, match=r"logits: .*torch\.int64"):
        loss(logits.long(), target)
    with pytest.raises(ValueError, match=r"target: .*got \(2, 6, 4\)"):
        loss(logits, target[:, :, :4])
    with pytest.raises(ValueError, match=r"target: .*got 255"):
        loss(logits, target.masked_fill(target == 1, 255))
    with pytest.raises(ValueError, match=r"target: .*meta"):
        loss(logits, target.to("meta"))
    with pytest.raises(ValueError, match=r"logits: .*\(0, 2, 6, 5\)"):
        loss(logits[:0], target[:0])
    with pytest.raises(ValueError, match=r"logits: .*NaN"):
        loss(logits.masked_fill(logits > 2, torch.nan), target)
    with pytest.raises(ValueError, match=r"logits: softmax needs C >= 2"):
        loss(logits[:, :1], target.clamp(max=0))


@every_loss
def test_copies_and_state_dicts(name):
    logits, target = batch()
    loss = make_loss(name)
    expected = gradient(loss, logits, target)
    torch.testing.assert_close(gradient(copy.deepcopy(loss), logits, target), expected)
    make_loss(name).load_state_dict(loss.state_dict())


@every_loss
def test_unknown_options_are_named_with_the_known_ones(name):
    with pytest.raises(TypeError, match=rf"{name!r}".replace("+", r"\+") + r".*'smoth'.*takes"):
        make_loss(name, smoth=1.0)


@pytest.mark.parametrize("name", [n for n in LOSSES if n.endswith("-surgery")])
@pytest.mark.parametrize("normalise", [False, True, "batch"])
def test_surgery_losses_blend_and_measure(name, normalise):
    logits, target = batch()
    loss = make_loss(name, blend=0.5, normalise=normalise)
    assert loss.blend == 0.5
    loss.blend = 1.0
    gradient(loss, logits, target)
    assert loss.equilibrium_shift().shape == (2,)
    _, plain = gradient(make_loss(name.removesuffix("-surgery")), logits, target)
    _, blended = gradient(make_loss(name, blend=0.0, normalise=normalise), logits, target)
    torch.testing.assert_close(blended, plain)
    value, operated = gradient(make_loss(name, normalise=normalise), logits, target)
    assert not torch.allclose(operated, plain, rtol=1e-2)
    torch.testing.assert_close(value, make_loss(name.removesuffix("-surgery"))(logits, target))


# --- options -----------------------------------------------------------------------------------


def test_options_reach_the_loss():
    loss = make_loss(
        "ce+tversky-surgery",
        a=0.3,
        decline=40.0,
        scale=0.3,
        normalise="batch",
        smooth=0.1,
        batch=True,
        include_background=True,
        class_weights=[1.0, 2.0],
        ignore_index=7,
        hard_statistics=True,
        check=False,
        weights=(0.25, 0.75),
    )
    region = loss.region
    assert (region.a, region.b) == (0.3, 0.7)
    assert region.surgery == SurgeryRule(decline=40.0, scale=0.3, normalise="batch")
    assert region.smooth == 0.1
    assert region.batch
    assert region.first_class == 0
    assert region.class_weights.tolist() == [1.0, 2.0]
    assert region.ignore_index == 7
    assert region.hard_statistics
    assert not region.check
    assert loss.weights == (0.25, 0.75)
    assert make_loss("dice-surgery", decline=None).surgery.decline is None
    assert make_loss("dice", activation="sigmoid").activation == "sigmoid"
    assert make_loss("focal-tversky", gamma=2.0).gamma == 2.0


def test_an_option_reaches_both_terms_of_a_sum():
    for name in ("svls+dice", "nacl+dice", "ace+dice"):
        loss = make_loss(name, ignore_index=7, smooth=0.1)
        assert loss.first.ignore_index == loss.second.ignore_index == 7
        assert loss.second.smooth == 0.1


@pytest.mark.parametrize(
    ("name", "first"), [("svls+dice", SVLS), ("nacl+dice", NACL), ("ace+dice", ACE)]
)
def test_weights_of_sums(name, first):
    logits, target = batch()
    parts = first()(logits, target), Dice()(logits, target)
    torch.testing.assert_close(make_loss(name)(logits, target), parts[0] + parts[1])
    weighted = make_loss(name, weights=(0.25, 3.0))
    assert isinstance(weighted, WeightedSum)
    torch.testing.assert_close(weighted(logits, target), 0.25 * parts[0] + 3.0 * parts[1])


def test_weights_of_cross_entropy_and_region():
    logits, target = batch()
    parts = CrossEntropy()(logits, target), Dice()(logits, target)
    for name in ("ce+dice", "ce+dice-surgery"):
        halves = make_loss(name, paper=True)
        torch.testing.assert_close(halves(logits, target), (parts[0] + parts[1]) / 2)
        weighted = make_loss(name, weights=(1.0, 3.0))
        torch.testing.assert_close(weighted(logits, target), parts[0] + 3 * parts[1])
        usual = make_loss(name)
        of_ce, of_region = CE_WEIGHTS
        assert usual.weights == CE_WEIGHTS
        expected = of_ce * parts[0] + of_region * parts[1]
        torch.testing.assert_close(usual(logits, target), expected)


def test_names_stand_for_classes():
    assert isinstance(make_loss("ce"), CrossEntropy)
    assert isinstance(make_loss("dice++"), DicePlusPlus)
    assert isinstance(make_loss("dice"), Dice)
    assert make_loss("dice").surgery is None
    assert make_loss("dice-surgery").surgery == SurgeryRule()


@pytest.mark.parametrize("first", ["svls", "nacl"])
def test_a_sum_does_not_mix_activations(first):
    says = rf"make_loss\('{first}\+dice'\): unknown option 'activation'; {first.upper()} is softmax"
    for activation in ("sigmoid", "softmax"):
        with pytest.raises(TypeError, match=says):
            make_loss(f"{first}+dice", activation=activation)
    with pytest.raises(TypeError, match="unknown option 'smoth'; it takes batch"):
        make_loss(f"{first}+dice", smoth=1.0)
    loss = make_loss("ace+dice", activation="sigmoid")
    assert loss.first.activation == loss.second.activation == "sigmoid"


@pytest.mark.parametrize(
    "option", ["decline", "scale", "normalise", "blend", "hard_statistics", "surgery"]
)
def test_surgery_options_belong_to_surgery_losses(option):
    with pytest.raises(TypeError, match=rf"make_loss\('dice'\): unknown option '{option}'"):
        make_loss("dice", **{option: 1.0})


def test_weights_belong_to_sums():
    with pytest.raises(TypeError, match="unknown option 'weights'"):
        make_loss("dice-surgery", weights=(1.0, 1.0))


# --- the paper's setting -----------------------------------------------------------------------

THE_PAPERS_RULE = SurgeryRule(decline=20.0, scale=0.25, normalise=False)


@every_loss
def test_the_papers_surgery_and_weights(name):
    loss = make_loss(name, paper=True)
    region = getattr(loss, "region", loss)
    rule = THE_PAPERS_RULE if name.endswith("-surgery") else None
    assert getattr(region, "surgery", None) == rule
    if name.startswith("ce+"):
        assert loss.weights == (0.5, 0.5)
    logits, target = batch(3)
    said = {"decline": 20, "scale": 0.25, "normalise": False} if rule else {}
    said |= {"weights": (0.5, 0.5)} if name.startswith("ce+") else {}
    expected = gradient(make_loss(name, **said), logits, target)
    torch.testing.assert_close(gradient(loss, logits, target), expected, rtol=0, atol=0)


def test_what_is_said_wins_over_the_paper():
    loss = make_loss("ce+dice-surgery", paper=True, decline=None, weights=(1.0, 2.0))
    assert loss.region.surgery == SurgeryRule(decline=None, scale=0.25, normalise=False)
    assert loss.weights == (1.0, 2.0)
    loss = make_loss("dice-surgery", paper=True, scale=0.7, normalise="batch", batch=True)
    assert loss.surgery == SurgeryRule(decline=20.0, scale=0.7, normalise="batch")
    assert loss.batch
    assert make_loss("dice-surgery", paper=False).surgery == SurgeryRule()
    with pytest.raises(TypeError, match="paper: expected True or False, got 'yes'"):
        make_loss("dice-surgery", paper="yes")


SURGERY = {"decline": 20.0, "scale": 0.25, "normalise": False}
WEIGHTS = {"weights": (0.5, 0.5)}


@pytest.mark.parametrize(
    ("name", "takes"),
    [
        ("dice-surgery", SURGERY),
        ("ce+tversky-surgery", {**SURGERY, **WEIGHTS}),
        ("ce+dice", WEIGHTS),
        ("dice", {}),
        ("ce", {}),
        ("svls+dice", {}),  # the weights of these sums have not changed
    ],
)
def test_options_as_the_paper_and_as_today(name, takes):
    assert as_the_paper(name, {}) == takes
    assert as_the_paper(name, {"scale": 1.0, "smooth": 0.1}) == {
        **takes,
        "scale": 1.0,
        "smooth": 0.1,
    }
    assert resolved(name, {"paper": True, "smooth": 0.1}) == {**takes, "smooth": 0.1}
    today = {**asdict(SurgeryRule()), "weights": CE_WEIGHTS}
    expected = {k: v for k, v in today.items() if k in takes}
    for options in ({}, {"paper": False}):
        assert resolved(name, options) == expected
    said = {"batch": True, **dict.fromkeys(takes, 3.0)}
    assert resolved(name, said) == resolved(name, {**said, "paper": True}) == said
    assert without_the_papers(name, {**takes, "smooth": 0.1}) == {"smooth": 0.1}
    assert without_the_papers(name, resolved(name, {"paper": True})) == {}
    assert without_the_papers(name, said) == said
    # Whatever is resolved means the same once the paper's are left out and filled in again.
    for options in ({}, {"paper": True}, said):
        full = resolved(name, options)
        assert as_the_paper(name, without_the_papers(name, full)) == full


def test_the_papers_are_recognised_as_they_come_out_of_a_file():
    options = {"decline": 20, "scale": 0.25, "normalise": False, "weights": [0.5, 0.5]}
    assert without_the_papers("ce+dice-surgery", options) == {}
    changed = {**options, "weights": [1.0, 1.0], "decline": None}
    assert without_the_papers("ce+dice-surgery", changed) == {
        "decline": None,
        "weights": [1.0, 1.0],
    }
    # Where the loss does not take an option, it is somebody's mistake and stays to be refused.
    assert without_the_papers("dice", {"decline": 20.0}) == {"decline": 20.0}


@every_loss
def test_sgd_gets_a_strength_of_its_own(name):
    said = {"decline": None, "scale": 0.5, "normalise": True} if name.endswith("-surgery") else {}
    said |= {"weights": (1.0, 1.0)} if name.startswith("ce+") else {}
    assert resolved(name, {}, "sgd") == said
    assert resolved(name, {"paper": True}, "sgd") == as_the_paper(name, {})
    for other in ("adamw", None):
        assert resolved(name, {}, other) == resolved(name, {})
    logits, target = batch(3)
    loss, same = make_loss(name, optimiser="sgd"), make_loss(name, **said)
    expected = gradient(same, logits, target)
    torch.testing.assert_close(gradient(loss, logits, target), expected, rtol=0, atol=0)


def test_what_is_said_wins_over_the_optimiser():
    loss = make_loss("ce+dice-surgery", optimiser="sgd", decline=40.0, weights=(1.0, 2.0))
    assert loss.region.surgery == SurgeryRule(decline=40.0, scale=0.5, normalise=True)
    assert loss.weights == (1.0, 2.0)
    loss = make_loss("dice-surgery", optimiser="sgd", paper=True, scale=0.7)
    assert loss.surgery == SurgeryRule(decline=20.0, scale=0.7, normalise=False)
    with pytest.raises(ValueError, match="optimiser: expected 'sgd', 'adamw' or None, got 'adam'"):
        make_loss("dice-surgery", optimiser="adam")


def test_unknown_names_come_with_a_suggestion():
    with pytest.raises(
        ValueError, match=r"unknown loss 'dice-surgry'; did you mean 'dice-surgery'"
    ):
        make_loss("dice-surgry")
    with pytest.raises(ValueError, match=r"unknown loss 'xyz'; known: ce, dice\+\+"):
        make_loss("xyz")
    with pytest.raises(ValueError, match="unknown loss None"):
        make_loss(None)


def test_bad_values_are_refused_by_the_loss_itself():
    with pytest.raises(ValueError, match="decline: expected a number > 0"):
        make_loss("dice-surgery", decline=0)
    with pytest.raises(ValueError, match="blend: expected a number from 0"):
        make_loss("dice-surgery", blend=2.0)
    with pytest.raises(ValueError, match="weights: expected two numbers"):
        make_loss("ce+dice", weights=(1.0,))
