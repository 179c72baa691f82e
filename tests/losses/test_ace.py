import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gradsurge.losses.ace import ACE, average_calibration_error
from tests.losses.batches import batch, gradient, hot

SPATIAL = [(40,), (6, 7), (4, 5, 3)]


def bin_shares(p, bins, binning):
    """Which bins a probability belongs to, and how much."""
    if binning == "hard":
        return [(max(math.ceil(p * bins), 1) - 1, 1.0)]
    centres = [(b + 0.5) / bins for b in range(bins)]
    if p <= centres[0]:
        return [(0, 1.0)]
    if p >= centres[-1]:
        return [(bins - 1, 1.0)]
    left = max(b for b in range(bins) if centres[b] <= p)
    share = (p - centres[left]) * bins
    return [(left, 1 - share), (left + 1, share)]


def ace_by_loop(p, y, bins, binning="hard"):
    """The error of one image and class: two lists of numbers."""
    if not any(y):
        return 0.0
    mass, confidence, accuracy = [0.0] * bins, [0.0] * bins, [0.0] * bins
    for pi, yi in zip(p, y, strict=True):
        for b, share in bin_shares(pi, bins, binning):
            mass[b] += share
            confidence[b] += share * pi
            accuracy[b] += share * yi
    full = [b for b in range(bins) if mass[b] >= 0.01]
    return sum(abs(confidence[b] - accuracy[b]) / mass[b] for b in full) / len(full)


@pytest.mark.parametrize("binning", ["hard", "soft"])
@pytest.mark.parametrize("bins", [1, 2, 7, 20])
@pytest.mark.parametrize("spatial", SPATIAL)
def test_equals_a_plain_loop(spatial, bins, binning):
    logits, target = batch(spatial)
    target[0][target[0] == 2] = 1  # the first image lacks class 2
    p, y = torch.softmax(logits, 1).flatten(2).tolist(), hot(target).flatten(2).tolist()
    each = [ace_by_loop(p[n][c], y[n][c], bins, binning) for n in range(2) for c in range(3)]
    assert each[2] == 0
    value = ACE(bins, binning=binning)(logits, target).item()
    assert value == pytest.approx(sum(each) / 6, rel=1e-12)
    without = ACE(bins, binning=binning, include_background=False)(logits, target).item()
    assert without == pytest.approx((each[1] + each[2] + each[4] + each[5]) / 4, rel=1e-12)


def test_gradient_equals_its_closed_form():
    logits, target = batch((40,))
    p = torch.softmax(logits.detach(), 1).requires_grad_()
    y = hot(target)
    (field,) = torch.autograd.grad(average_calibration_error(p, y, bins=5).mean(), p)
    expected = torch.zeros_like(p)
    for n in range(2):
        for c in range(3):
            index = (p[n, c] * 5).ceil().long() - 1
            full = index.unique()
            for b in full:
                members = index == b
                gap = (p[n, c] - y[n, c])[members].mean()
                expected[n, c, members] = gap.sign().item() / (members.sum() * len(full) * 6)
    torch.testing.assert_close(field, expected.detach())


@pytest.mark.parametrize("activation", ["softmax", "sigmoid"])
@pytest.mark.parametrize("binning", ["hard", "soft"])
def test_gradcheck(binning, activation):
    logits, target = batch((6,))
    labels = target if activation == "softmax" else hot(target)
    loss = ACE(4, binning=binning, activation=activation, class_weights=[1.0, 2.0, 3.0])
    assert torch.autograd.gradcheck(lambda z: loss(z, labels), logits)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 8), st.integers(1, 6), st.data())
def test_zero_when_every_bin_is_calibrated(denominator, copies, data):
    # Groups of `denominator` voxels share p = k / denominator, k of them foreground.
    counts = data.draw(st.lists(st.integers(0, denominator), min_size=1, max_size=5))
    p, y = [], []
    for k in counts:
        p += [k / denominator] * denominator * copies
        y += ([1.0] * k + [0.0] * (denominator - k)) * copies
    value = average_calibration_error(
        torch.tensor([[p]], dtype=torch.float64), torch.tensor([[y]]), bins=20
    )
    assert value.item() == pytest.approx(0, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(["hard", "soft"]), st.sampled_from([1.0, 100.0]))
def test_bounded_with_finite_gradients_even_where_saturated(seed, binning, gain):
    logits, target = batch((12,), seed=seed, dtype=torch.float32)
    logits = (logits.detach() * gain).requires_grad_()
    loss = ACE(binning=binning)
    assert 0 <= loss(logits, target).item() <= 1
    assert gradient(loss, logits, target).isfinite().all()


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.permutations(range(4)), st.permutations(range(12)))
def test_order_of_samples_and_voxels_does_not_matter(seed, samples, voxels):
    logits, target = batch((12,), samples=4, seed=seed)
    value = ACE()(logits, target)
    torch.testing.assert_close(ACE()(logits[samples], target[samples]), value)
    torch.testing.assert_close(ACE()(logits[..., voxels], target[..., voxels]), value)


def test_edges_belong_to_the_bin_below():
    p = torch.tensor([[[0.0, 0.25, 0.5, 0.75, 1.0]]])
    y = torch.tensor([[[0, 1, 0, 1, 1]]])
    # Bins (0, 0.5] with 0, 0.25, 0.5 and (0.5, 1] with 0.75, 1.
    expected = (abs(0.75 / 3 - 1 / 3) + abs(1.75 / 2 - 1)) / 2
    assert average_calibration_error(p, y, bins=2).item() == pytest.approx(expected)


@pytest.mark.parametrize("spatial", [(1 << 20,), (128, 128, 64)])
def test_a_million_voxels_in_one_bin_do_not_drift(spatial):
    # One float32 after the other, the sum of a million times 0.0123 is off in the fourth digit.
    p = torch.full((1, 1, *spatial), 0.0123)
    value = average_calibration_error(p, torch.zeros_like(p))
    assert value.item() == pytest.approx(p.flatten()[0].item(), rel=1e-6)


@pytest.mark.parametrize("background", [True, False])
def test_class_weights_are_a_weighted_mean(background):
    logits, target = batch((40,))
    each = average_calibration_error(torch.softmax(logits, 1), hot(target)).mean(dim=0)
    value = ACE(class_weights=[2.0, 1.0, 3.0], include_background=background)(logits, target)
    expected = each[1] + 3 * each[2] + (2 * each[0] if background else 0)
    torch.testing.assert_close(value, expected / (6 if background else 4))


def test_an_ignored_class_leaves_no_trace():
    logits, target = batch((60,), samples=1)
    labelled = target[0] != 1
    rest = ACE()(logits[..., labelled], target[..., labelled])
    torch.testing.assert_close(ACE(ignore_index=1)(logits, target), rest)


@pytest.mark.parametrize("binning", ["hard", "soft"])
def test_ignored_voxels_leave_no_trace(binning):
    logits, target = batch((60,))
    target[:, 40:] = 255
    loss = ACE(5, binning=binning, ignore_index=255)
    rest = ACE(5, binning=binning)(logits[..., :40], target[..., :40])
    torch.testing.assert_close(loss(logits, target), rest)
    field = gradient(loss, logits, target)
    assert (field[..., 40:] == 0).all()
    assert (field[..., :40] != 0).any(dim=1).all()


def test_ignored_entries_of_sigmoid_channels_leave_no_trace():
    logits, target = batch((30,), samples=1)
    y = hot(target).clone()
    y[:, 1, 5:] = 255
    loss = ACE(activation="sigmoid", ignore_index=255)
    assert ((gradient(loss, logits, y) == 0) == (y == 255)).all()
    alone = ACE(activation="sigmoid")
    expected = (alone(logits[:, 1:2, :5], y[:, 1:2, :5]) + 2 * alone(logits[:, ::2], y[:, ::2])) / 3
    torch.testing.assert_close(loss(logits, y), expected)


def test_nothing_labelled_is_zero_not_nan():
    logits, target = batch((5,))
    loss, ignored = ACE(ignore_index=7), torch.full_like(target, 7)
    assert loss(logits, ignored).item() == 0
    assert (gradient(loss, logits, ignored) == 0).all()


def test_memory_layout_does_not_matter():
    logits, target = batch((6, 7))
    last = logits.detach().contiguous(memory_format=torch.channels_last)
    torch.testing.assert_close(ACE()(last, target), ACE()(logits, target))


def test_target_forms_agree():
    logits, target = batch((6, 7))
    value = ACE()(logits, target)
    for other in (target.unsqueeze(1), hot(target), hot(target).bool(), target.to(torch.uint8)):
        assert ACE()(logits, other) == value


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_and_autocast_are_computed_in_float32(dtype):
    logits, target = batch((6, 7), dtype=torch.float32)
    low = logits.detach().to(dtype)
    value = ACE()(low.float(), target)
    assert ACE()(low, target).dtype == torch.float32
    assert ACE()(low, target) == value
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert ACE()(low, target) == value


@pytest.mark.parametrize("binning", ["hard", "soft"])
def test_compiles_into_one_graph(binning):
    logits, target = batch((6, 7))
    loss = ACE(binning=binning, ignore_index=255)
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(gradient(compiled, logits, target), gradient(loss, logits, target))


@pytest.mark.parametrize("binning", ["hard", "soft"])
def test_infinite_logits(binning):
    logits, target = batch((6,))
    logits, loss = logits.detach().clone(), ACE(binning=binning)
    logits[:, 2] = -torch.inf  # a class ruled out
    logits.requires_grad_()
    assert loss(logits, target).isfinite()
    assert gradient(loss, logits, target).isfinite().all()
    with pytest.raises(ValueError, match=r"logits: .*\+inf, 3 times"):  # no probabilities to bin
        loss(logits.detach().index_fill(0, torch.tensor(0), torch.inf)[..., :1], target[..., :1])


def test_a_stray_255_is_not_taken_for_minus_one():
    # torch compares uint8 with -1 as if it were 255.
    target = torch.tensor([[[0, 255, 1]]], dtype=torch.uint8)
    with pytest.raises(ValueError, match=r"target: .*from 0 to 255"):
        ACE(activation="sigmoid", ignore_index=-1)(torch.zeros(1, 1, 3), target)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bins": 0}, "bins.*0"),
        ({"bins": -3}, "bins.*-3"),
        ({"bins": 2.5}, "bins.*2.5"),
        ({"binning": "fuzzy"}, "'fuzzy'"),
        ({"activation": "tanh"}, "'tanh'"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        ACE(**options)
