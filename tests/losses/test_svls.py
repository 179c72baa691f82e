import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from gradsurge.losses.svls import SVLS, smooth_labels, svls_kernel
from tests.losses.batches import batch, gradient, hot

SPATIAL = [(9,), (4, 5), (3, 4, 2)]


def smoothed_by_convolution(labels, kernel):
    axes, classes = kernel.ndim, labels.shape[1]
    padded = F.pad(labels.to(kernel.dtype), (1, 1) * axes, mode="replicate")
    weight = kernel.expand(classes, 1, *kernel.shape)
    return (F.conv1d, F.conv2d, F.conv3d)[axes - 1](padded, weight, groups=classes)


def test_kernel_in_2d_by_hand():
    a, b = math.exp(-1 / 2), math.exp(-2 / 2)  # sigma 1: beside, and diagonal
    total = 2 * (4 * a + 4 * b)
    rows = [[b, a, b], [a, total / 2, a], [b, a, b]]
    expected = torch.tensor(rows, dtype=torch.float64) / total
    torch.testing.assert_close(svls_kernel(2, 1.0), expected, rtol=1e-14, atol=0)


def test_kernel_in_3d_by_hand():
    sigma = 2.0
    a, b, c = (math.exp(-k / (2 * sigma**2)) for k in (1, 2, 3))
    total = 2 * (6 * a + 12 * b + 8 * c)
    outer, middle = [[c, b, c], [b, a, b], [c, b, c]], [[b, a, b], [a, total / 2, a], [b, a, b]]
    expected = torch.tensor([outer, middle, outer], dtype=torch.float64) / total
    torch.testing.assert_close(svls_kernel(3, sigma), expected, rtol=1e-14, atol=0)


@pytest.mark.parametrize("sigma", [1e-3, 0.5, 1.0, 3.0, 1e3])
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_kernel_sums_to_one_and_keeps_half_in_the_centre(axes, sigma):
    kernel = svls_kernel(axes, sigma)
    assert kernel[(1,) * axes].item() == 0.5
    assert kernel.sum().item() == pytest.approx(1, abs=1e-14)


@pytest.mark.parametrize("sigma", [0.7, 1.0, 3.0])
@pytest.mark.parametrize("spatial", [*SPATIAL, (1,), (1, 6), (6, 7, 5)])
def test_labels_equal_a_convolution(spatial, sigma):
    labels = hot(batch(spatial)[1])
    expected = smoothed_by_convolution(labels, svls_kernel(len(spatial), sigma))
    torch.testing.assert_close(smooth_labels(labels, sigma, dtype=torch.float64), expected)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10_000),
    st.sampled_from([(5,), (4, 3), (3, 2, 4)]),
    st.floats(0.05, 50),
    st.booleans(),
)
def test_labels_sum_to_one_and_the_centre_keeps_half(seed, spatial, sigma, ignore):
    target = batch(spatial, seed=seed)[1]
    labels, kept = hot(target), None
    if ignore:
        kept = (batch(spatial, seed=seed + 1)[1] > 0).unsqueeze(1)
    q = smooth_labels(labels, sigma, kept=kept, dtype=torch.float64)
    one = torch.ones_like(q[:, :1]) if kept is None else kept.double()
    torch.testing.assert_close(q.sum(dim=1, keepdim=True), one)
    own = q.gather(1, target.unsqueeze(1))
    assert (own >= 0.5 * one - 1e-12).all()
    assert (q >= 0).all()


def test_unlabelled_neighbours_are_left_out_and_the_rest_renormalised():
    labels = torch.tensor([[[1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]])
    kept = torch.tensor([[[True, True, False, True]]])
    q = smooth_labels(labels, 1.0, kept=kept)
    # Voxel 1 has one labelled neighbour, of its own class; voxel 3 sees its own border copy only.
    assert q[0, :, 1].tolist() == [1, 0, 0]
    assert q[0, :, 3].tolist() == [0, 0, 1]
    assert q[0, :, 2].tolist() == [0, 0, 0]


def test_a_lone_labelled_voxel_keeps_its_hard_label():
    labels = torch.ones(1, 2, 3, 3, dtype=torch.bool)
    labels[:, 0] = False
    kept = torch.zeros(1, 1, 3, 3, dtype=torch.bool)
    kept[..., 1, 1] = True
    assert smooth_labels(labels, 1.0, kept=kept)[0, :, 1, 1].tolist() == [0, 1]


@pytest.mark.parametrize("spatial", SPATIAL)
def test_loss_is_the_cross_entropy_with_convolved_labels(spatial):
    logits, target = batch(spatial)
    q = smoothed_by_convolution(hot(target), svls_kernel(len(spatial), 2.0))
    torch.testing.assert_close(SVLS(2.0)(logits, target), F.cross_entropy(logits, q))


def test_uniform_labels_give_plain_cross_entropy():
    logits, target = batch((4, 5))
    target = torch.ones_like(target)
    torch.testing.assert_close(SVLS()(logits, target), F.cross_entropy(logits, target))


def test_gradient_is_the_distance_to_the_smoothed_labels():
    logits, target = batch((4, 5))
    q = smoothed_by_convolution(hot(target), svls_kernel(2, 1.0))
    expected = (torch.softmax(logits, dim=1) - q) / target.numel()
    torch.testing.assert_close(gradient(SVLS(), logits, target), expected.detach())


def test_class_weights_weigh_value_and_normaliser():
    logits, target = batch((20,))
    weights = torch.tensor([0.5, 1.0, 3.0], dtype=torch.float64)
    q = smooth_labels(hot(target), 1.0, dtype=torch.float64) * weights.view(1, 3, 1)
    expected = -(q * torch.log_softmax(logits, dim=1)).sum() / q.sum()
    loss = SVLS(class_weights=weights)
    torch.testing.assert_close(loss(logits, target), expected)
    assert torch.autograd.gradcheck(lambda z: loss(z, target), logits)


@pytest.mark.parametrize("spatial", [(5,), (3, 2)])
def test_gradcheck(spatial):
    logits, target = batch(spatial)
    target[0, 0] = 255
    loss = SVLS(ignore_index=255)
    assert torch.autograd.gradcheck(lambda z: loss(z, target), logits)


def test_target_forms_agree():
    logits, target = batch((4, 5))
    value = SVLS()(logits, target)
    for other in (target.unsqueeze(1), hot(target), hot(target).bool(), target.to(torch.uint8)):
        assert SVLS()(logits, other) == value


def test_ignored_voxels_leave_no_trace():
    logits, target = batch((30,), samples=1)
    target[0, 20:] = 255
    target[0, 19] = target[0, 18]  # cut off, it would see a copy of itself instead of nothing
    loss = SVLS(ignore_index=255)
    rest = SVLS()(logits[..., :20], target[..., :20])
    torch.testing.assert_close(loss(logits, target), rest)
    field = gradient(loss, logits, target)
    assert (field[..., 20:] == 0).all()
    assert (field[..., :20] != 0).all()


def test_an_unused_ignore_index_changes_nothing():
    logits, target = batch((3, 4, 5))
    torch.testing.assert_close(SVLS(ignore_index=255)(logits, target), SVLS()(logits, target))


def test_nothing_labelled_is_zero_not_nan():
    logits, target = batch((5,))
    loss, ignored = SVLS(ignore_index=7), torch.full_like(target, 7)
    assert loss(logits, ignored).item() == 0
    assert (gradient(loss, logits, ignored) == 0).all()


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.permutations(range(4)))
def test_order_of_samples_does_not_matter(seed, order):
    logits, target = batch((4, 3), samples=4, seed=seed)
    torch.testing.assert_close(SVLS()(logits[order], target[order]), SVLS()(logits, target))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_and_autocast_are_computed_in_float32(dtype):
    logits, target = batch((6, 7), dtype=torch.float32)
    low = logits.detach().to(dtype)
    value = SVLS()(low.float(), target)
    assert SVLS()(low, target).dtype == torch.float32
    assert SVLS()(low, target) == value
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert SVLS()(low, target) == value


@pytest.mark.parametrize("ignore_index", [None, 255])
def test_compiles_into_one_graph(ignore_index):
    logits, target = batch((4, 5))
    loss = SVLS(ignore_index=ignore_index)
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(logits, target), loss(logits, target))


@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 3.0]])
def test_a_class_ruled_out_by_minus_infinity_does_not_spoil_the_others(weights):
    logits, target = batch((4, 5))
    target = target.clamp(max=1)
    two = logits.detach()[:, :2].clone().requires_grad_()
    ruled_out = torch.full_like(two[:, :1], -torch.inf)
    three = torch.cat((two.detach(), ruled_out), dim=1).requires_grad_()
    loss, of_two = SVLS(class_weights=weights), SVLS(class_weights=weights and weights[:2])
    torch.testing.assert_close(loss(three, target), of_two(two, target))
    field = gradient(loss, three, target)
    torch.testing.assert_close(field[:, :2], gradient(of_two, two, target))
    assert (field[:, 2] == 0).all()


@pytest.mark.parametrize("sigma", [0.0, -1.0, math.inf, math.nan])
def test_bad_sigma_is_named(sigma):
    with pytest.raises(ValueError, match="sigma"):
        SVLS(sigma)
