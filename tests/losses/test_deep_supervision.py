import pytest
import torch
import torch.nn.functional as F
from monai.losses import DeepSupervisionLoss, DiceLoss

from gradsurge import DeepSupervision, Dice, Surgery, SurgeryRule, make_loss
from gradsurge.losses import CrossEntropy
from gradsurge.losses.deep_supervision import nearest

GRIDS = [(8, 12), (4, 6), (2, 3)]


def pyramid(classes=2, grids=GRIDS):
    outputs = [torch.randn(2, classes, *g, dtype=torch.float64, requires_grad=True) for g in grids]
    return outputs, torch.randint(0, classes, (2, *grids[0]))


def coarse(target, grid):
    """The oracle: torch's own nearest neighbour, voxel centres on voxel centres."""
    return F.interpolate(target.unsqueeze(1).double(), grid, mode="nearest-exact")[:, 0].long()


@pytest.mark.parametrize("old", [(8,), (9,), (7, 12), (5, 6, 7), (1, 4)])
@pytest.mark.parametrize("ratio", [1, 2, 3, 4])
def test_nearest_picks_what_torch_picks(old, ratio):
    target = torch.randint(0, 100, (2, *old))
    grid = tuple(max(1, n // ratio) for n in old)
    assert torch.equal(nearest(target, grid), coarse(target, grid))
    hot = torch.randint(0, 2, (2, 3, *old)).bool()  # one-hot targets keep their channel axis
    expected = torch.stack([coarse(hot[:, c].long(), grid) for c in range(3)], dim=1)
    assert torch.equal(nearest(hot, grid).long(), expected)


def test_weights_halve_from_level_to_level_and_sum_to_one():
    outputs, target = pyramid()
    parts = [Dice()(z, coarse(target, z.shape[2:])) for z in outputs]
    expected = (4 * parts[0] + 2 * parts[1] + parts[2]) / 7
    torch.testing.assert_close(DeepSupervision(Dice(), levels=3)(outputs, target), expected)


def test_equal_to_monai_up_to_its_weights_not_summing_to_one():
    outputs, target = pyramid()
    one_hot = F.one_hot(target, 2).movedim(-1, 1).double()
    theirs = DeepSupervisionLoss(DiceLoss(softmax=True, include_background=False))
    expected = theirs(list(outputs), one_hot).double() / (1 + 0.5 + 0.25)
    found = DeepSupervision(Dice(), levels=3)(outputs, target)
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=0)  # MONAI computes in float32


def test_given_weights_and_a_level_that_is_left_out():
    outputs, target = pyramid()
    loss = DeepSupervision(Dice(), levels=[3.0, 1.0, 0.0])
    outputs[2] = torch.full((2, 2, 2, 3), torch.nan)  # never looked at
    expected = 0.75 * Dice()(outputs[0], target)
    expected = expected + 0.25 * Dice()(outputs[1], coarse(target, (4, 6)))
    torch.testing.assert_close(loss(outputs, target), expected)


def test_a_target_for_every_level():
    outputs, _ = pyramid()
    targets = [torch.randint(0, 2, (2, *g)) for g in GRIDS]
    parts = [Dice()(z, y) for z, y in zip(outputs, targets, strict=True)]
    expected = (4 * parts[0] + 2 * parts[1] + parts[2]) / 7
    loss = DeepSupervision(Dice(), levels=3)
    torch.testing.assert_close(loss(outputs, targets), expected)
    torch.testing.assert_close(loss(tuple(outputs), tuple(targets)), expected)


def test_three_axes_and_index_targets_with_a_channel_axis():
    outputs, target = pyramid(3, [(4, 6, 8), (2, 3, 4)])
    loss = DeepSupervision(make_loss("ce+dice"), levels=2)
    torch.testing.assert_close(loss(outputs, target.unsqueeze(1)), loss(outputs, target))


@pytest.mark.parametrize("normalise", [False, True, "batch"])
def test_gradients_are_those_of_each_level(normalise):
    outputs, target = pyramid()
    rule = SurgeryRule(normalise=normalise)
    DeepSupervision(Dice(surgery=rule), levels=3)(outputs, target).backward()
    for weight, z in zip((4 / 7, 2 / 7, 1 / 7), outputs, strict=True):
        alone = z.detach().clone().requires_grad_()
        Dice(surgery=rule)(alone, coarse(target, z.shape[2:])).backward()
        torch.testing.assert_close(z.grad, weight * alone.grad)


def test_half_outputs_give_a_float32_loss():
    outputs, target = pyramid()
    halves = [z.detach().bfloat16() for z in outputs]
    assert DeepSupervision(Dice(), levels=3)(halves, target).dtype == torch.float32
    assert DeepSupervision(Dice(), levels=3)(outputs, target).dtype == torch.float64


@pytest.mark.parametrize(
    "make", [lambda: make_loss("ce+dice-surgery"), lambda: Surgery(DiceLoss())]
)
def test_blend_reaches_every_level(make):
    outputs, target = pyramid()
    loss = DeepSupervision(make(), levels=3)
    loss.blend = 0.25
    assert loss.blend == 0.25
    assert [level.blend for level in loss.losses] == [0.25] * 3
    single = make()
    single.blend = 0.25
    loss(outputs, target).backward()
    alone = outputs[2].detach().clone().requires_grad_()
    single(alone, coarse(target, (2, 3))).backward()
    torch.testing.assert_close(outputs[2].grad, alone.grad / 7)


def test_the_equilibrium_is_that_of_the_finest_level():
    outputs, target = pyramid()
    loss = DeepSupervision(make_loss("dice-surgery"), levels=3)
    loss(outputs, target).backward()
    alone = make_loss("dice-surgery")
    alone(outputs[0].detach().requires_grad_(), target).backward()
    torch.testing.assert_close(loss.equilibrium_shift(), alone.equilibrium_shift())
    fresh = DeepSupervision(make_loss("dice-surgery"), levels=3)
    fresh.load_state_dict(loss.state_dict())
    assert torch.equal(fresh.equilibrium_shift(), loss.equilibrium_shift())


def test_the_rates_are_those_of_the_finest_level():
    outputs, target = pyramid()
    loss = DeepSupervision(make_loss("dice-surgery"), levels=3)
    loss(outputs, target).backward()
    assert torch.equal(loss.equilibrium().region, loss.loss.equilibrium().region)


@pytest.mark.parametrize("name", ["dice", "ce", "ce+dice-surgery"])
def test_a_target_that_is_not_the_finest_outputs_is_refused(name):
    outputs, target = pyramid()
    loss = DeepSupervision(make_loss(name), levels=3)
    larger = target.repeat_interleave(2, dim=1)
    for wrong in (larger, target[:, ::2, ::2], target[0], target.unsqueeze(1).unsqueeze(1)):
        with pytest.raises(ValueError, match=r"target: for logits \(2, 2, 8, 12\)"):
            loss(outputs, wrong)
    with pytest.raises(TypeError, match="target: expected a tensor or a list of them, got int"):
        loss(outputs, 3)


def test_bad_input():
    outputs, target = pyramid()
    loss = DeepSupervision(Dice(), levels=3)
    with pytest.raises(ValueError, match=r"outputs: expected 3 logit tensors.*got one tensor"):
        loss(outputs[0], target)
    with pytest.raises(ValueError, match=r"outputs: expected 3 logit tensors.*got 2 tensors"):
        loss(outputs[:2], target)
    with pytest.raises(ValueError, match="target: expected one tensor or 3, got 2"):
        loss(outputs, [target, target])
    for levels in (0, [], [0.0, 0.0], [1.0, -1.0]):
        with pytest.raises(ValueError, match="levels: expected"):
            DeepSupervision(Dice(), levels)


@pytest.mark.parametrize("plain", [Dice, CrossEntropy])
def test_a_blend_without_surgery_is_refused(plain):
    loss = DeepSupervision(plain(), levels=2)
    assert loss.blend == 0.0
    with pytest.raises(ValueError, match=r"blend: .* no surgery to blend"):
        loss.blend = 0.5
