import sys
import warnings

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from gradsurge.losses.dice_plus_plus import DicePlusPlus, dice_plus_plus
from tests.losses.batches import batch, gradient

SPATIAL = [(9,), (4, 5), (3, 4, 2)]


def monai_dice(**options):
    with warnings.catch_warnings():  # MONAI's own imports warn
        warnings.simplefilter("ignore")
        from monai.losses import DiceLoss
    return DiceLoss(smooth_nr=1e-5, smooth_dr=1e-5, **options)


@pytest.mark.parametrize("background", [False, True])
@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("spatial", SPATIAL)
def test_gamma_one_is_the_dice_loss_of_monai(spatial, batched, background):
    logits, target = batch(spatial)
    theirs = monai_dice(
        softmax=True, to_onehot_y=True, include_background=background, batch=batched
    )
    ours = DicePlusPlus(1.0, include_background=background, batch=batched)
    torch.testing.assert_close(ours(logits, target), theirs(logits, target.unsqueeze(1)))
    torch.testing.assert_close(
        gradient(ours, logits, target), gradient(theirs, logits, target.unsqueeze(1))
    )


def test_gamma_one_sigmoid_is_the_dice_loss_of_monai():
    logits, target = batch((4, 5))
    y = F.one_hot(target, 3).movedim(-1, 1)
    ours = DicePlusPlus(1.0, activation="sigmoid")
    theirs = monai_dice(sigmoid=True, include_background=True)
    torch.testing.assert_close(ours(logits, y), theirs(logits, y))


@pytest.mark.parametrize("gamma", [1.5, 2.0, 3.0])
def test_value_equals_the_definition_voxel_by_voxel(gamma):
    logits, target = batch((6,), classes=2, samples=1)
    p = torch.softmax(logits, dim=1)[0, 1].tolist()
    y = target[0].tolist()
    overlap = sum(a * b for a, b in zip(p, y, strict=True))
    positives = sum((a * (1 - b)) ** gamma for a, b in zip(p, y, strict=True))
    negatives = sum(((1 - a) * b) ** gamma for a, b in zip(p, y, strict=True))
    score = (2 * overlap + 1e-5) / (2 * overlap + positives + negatives + 1e-5)
    assert DicePlusPlus(gamma)(logits, target).item() == pytest.approx(1 - score, rel=1e-12)


@pytest.mark.parametrize("gamma", [1.5, 2.0, 3.0])
def test_gradient_equals_its_closed_form(gamma):
    logits, target = batch((50,), classes=2, samples=1)
    p = torch.softmax(logits.detach(), dim=1)[:, 1:].requires_grad_()
    y = target.unsqueeze(1).double()
    (field,) = torch.autograd.grad(dice_plus_plus(p, y, gamma=gamma).sum(), p)
    p = p.detach()
    eps, overlap = 1e-5, (p * y).sum()
    wrong = ((p - y).abs() ** gamma).sum()
    square = (2 * overlap + wrong + eps) ** 2
    foreground = -(2 * wrong + gamma * (2 * overlap + eps) * (1 - p) ** (gamma - 1)) / square
    background = gamma * (2 * overlap + eps) * p ** (gamma - 1) / square
    torch.testing.assert_close(field, torch.where(y == 1, foreground, background))
    # Two classes: the softmax turns it into p(1-p) times that, of opposite signs.
    through = gradient(DicePlusPlus(gamma), logits, target)
    torch.testing.assert_close(through[:, 1:], p * (1 - p) * field)
    torch.testing.assert_close(through[:, :1], -p * (1 - p) * field)


def test_gamma_two_is_linear_in_the_error():
    p = torch.tensor([[[0.1, 0.2, 0.3, 0.9, 0.8, 0.7]]], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([[[0, 0, 0, 1, 1, 1]]])
    (field,) = torch.autograd.grad(dice_plus_plus(p, y).sum(), p)
    first, second, third, *foreground = field.flatten().tolist()
    assert [second / first, third / first] == pytest.approx([2, 3])
    assert foreground[2] - foreground[1] == pytest.approx(foreground[1] - foreground[0])
    assert foreground[1] - foreground[0] == pytest.approx(-first)


@pytest.mark.parametrize("options", [{}, {"batch": True}, {"include_background": True}])
@pytest.mark.parametrize("gamma", [1.3, 2.0])
def test_gradcheck(gamma, options):
    logits, target = batch((5,))
    loss = DicePlusPlus(gamma, class_weights=[1.0, 2.0, 3.0], **options)
    assert torch.autograd.gradcheck(lambda z: loss(z, target), logits)


def test_gradcheck_of_soft_sigmoid_labels():
    logits, _ = batch((5,))
    y = torch.rand(logits.shape, generator=torch.Generator().manual_seed(2)).double()
    loss = DicePlusPlus(1.7, activation="sigmoid")
    assert torch.autograd.gradcheck(lambda z: loss(z, y), logits)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10_000),
    st.sampled_from([1.0, 1.01, 1.5, 2.0, 2.5, 4.0]),
    st.sampled_from([1.0, 30.0, 300.0]),
)
def test_bounded_with_finite_gradients_even_where_saturated(seed, gamma, gain):
    logits, target = batch((8,), seed=seed, dtype=torch.float32)
    logits = (logits.detach() * gain).requires_grad_()
    loss = DicePlusPlus(gamma)
    assert 0 <= loss(logits, target).item() <= 1
    assert gradient(loss, logits, target).isfinite().all()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.permutations(range(4)), st.booleans())
def test_order_of_samples_does_not_matter(seed, order, batched):
    logits, target = batch((6,), samples=4, seed=seed)
    loss = DicePlusPlus(batch=batched)
    torch.testing.assert_close(loss(logits[order], target[order]), loss(logits, target))


def test_batch_pools_the_samples():
    logits, target = batch((6,), samples=4)
    pooled = logits.transpose(0, 1).reshape(1, 3, 24), target.reshape(1, 24)
    loss = DicePlusPlus(batch=True)
    torch.testing.assert_close(loss(logits, target), DicePlusPlus()(*pooled))
    assert not torch.isclose(loss(logits, target), DicePlusPlus()(logits, target))


def test_batch_sums_over_the_ranks(monkeypatch):
    logits, target = batch((6,))
    whole = DicePlusPlus(batch=True)(torch.cat([logits, logits]), torch.cat([target, target]))
    module = sys.modules[DicePlusPlus.__module__]
    monkeypatch.setattr(module, "sum_over_ranks", lambda sums: 2 * sums)  # two equal ranks
    torch.testing.assert_close(DicePlusPlus(batch=True)(logits, target), whole)
    assert not torch.isclose(DicePlusPlus()(logits, target), whole)


@pytest.mark.parametrize("background", [True, False])
def test_class_weights_are_a_weighted_mean(background):
    logits, target = batch((20,))
    y = F.one_hot(target, 3).movedim(-1, 1)
    each = dice_plus_plus(torch.softmax(logits, dim=1), y).mean(dim=0)
    loss = DicePlusPlus(class_weights=[2.0, 1.0, 3.0], include_background=background)
    expected = each[1] + 3 * each[2] + (2 * each[0] if background else 0)
    torch.testing.assert_close(loss(logits, target), expected / (6 if background else 4))


def test_an_ignored_class_leaves_no_trace():
    logits, target = batch((30,), samples=1)
    labelled = target[0] != 1
    rest = DicePlusPlus()(logits[..., labelled], target[..., labelled])
    torch.testing.assert_close(DicePlusPlus(ignore_index=1)(logits, target), rest)


def test_perfect_and_empty_predictions_cost_nothing():
    target = torch.tensor([[0, 1, 2, 1], [0, 0, 0, 0]])
    logits = 100.0 * F.one_hot(target, 3).movedim(-1, 1)
    assert DicePlusPlus()(logits, target).item() == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("batched", [False, True])
def test_ignored_voxels_leave_no_trace(batched):
    logits, target = batch((30,))
    target[:, 20:] = 255
    loss = DicePlusPlus(ignore_index=255, batch=batched)
    rest = DicePlusPlus(batch=batched)(logits[..., :20], target[..., :20])
    torch.testing.assert_close(loss(logits, target), rest)
    field = gradient(loss, logits, target)
    assert (field[..., 20:] == 0).all()
    assert (field[..., :20] != 0).all()


def test_ignored_entries_of_sigmoid_channels_leave_no_trace():
    logits, target = batch((30,))
    y = F.one_hot(target, 3).movedim(-1, 1).clone()
    y[:, 1, 5:] = -1
    loss = DicePlusPlus(activation="sigmoid", ignore_index=-1)
    assert ((gradient(loss, logits, y) == 0) == (y == -1)).all()
    alone = DicePlusPlus(activation="sigmoid")
    short = alone(logits[:, 1:2, :5], y[:, 1:2, :5])
    others = alone(logits[:, ::2], y[:, ::2])
    torch.testing.assert_close(loss(logits, y), (short + 2 * others) / 3)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_is_computed_in_float32(dtype):
    logits, target = batch((50,), dtype=torch.float32)
    low = logits.detach().to(dtype)
    value = DicePlusPlus()(low, target)
    assert value.dtype == torch.float32
    assert value == DicePlusPlus()(low.float(), target)


def test_autocast_changes_nothing():
    logits, target = batch((50,), dtype=torch.float32)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        value = DicePlusPlus()(logits, target)
    assert value == DicePlusPlus()(logits, target)


def test_compiles_into_one_graph():
    logits, target = batch((4, 5))
    loss = DicePlusPlus(1.5, class_weights=[1.0, 2.0, 3.0], ignore_index=255)
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(gradient(compiled, logits, target), gradient(loss, logits, target))


def test_a_stray_255_is_not_taken_for_minus_one():
    # torch compares uint8 with -1 as if it were 255.
    target = torch.tensor([[[0, 255, 1]]], dtype=torch.uint8)
    with pytest.raises(ValueError, match=r"target: .*from 0 to 255"):
        DicePlusPlus(activation="sigmoid", ignore_index=-1)(torch.zeros(1, 1, 3), target)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gamma": -1.0}, "gamma.*-1.0"),
        ({"gamma": 0.5}, "gamma.*0.5"),
        ({"gamma": float("nan")}, "gamma"),
        ({"smooth": 0.0}, "smooth"),
        ({"activation": "tanh"}, "'tanh'"),
        ({"activation": "sigmoid", "ignore_index": 0}, "ignore_index"),
        ({"class_weights": [1.0, 0.0, 0.0]}, "after the background"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        DicePlusPlus(**options)
