import itertools
import warnings

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from gradsurge.losses.nacl import NACL, neighbourhood_proportions
from tests.losses.batches import batch, gradient, hot

SPATIAL = [(9,), (4, 5), (3, 4, 2)]


def monai_nacl(axes, **options):
    with warnings.catch_warnings():  # MONAI's own imports warn
        warnings.simplefilter("ignore")
        from monai.losses import NACLLoss
    return NACLLoss(classes=3, dim=axes, **options)


def proportions_by_loop(target, classes, ignored=None):
    """Class shares of one sample, counted voxel by voxel."""
    shares = torch.zeros(classes, *target.shape, dtype=torch.float64)
    for voxel in itertools.product(*map(range, target.shape)):
        window = itertools.product(*([i - 1, i, i + 1] for i in voxel))
        inside = [
            int(target[w])
            for w in window
            if all(0 <= i < n for i, n in zip(w, target.shape, strict=True))
        ]
        labels = [label for label in inside if label != ignored]
        for label in labels:
            shares[(label, *voxel)] += 1 / len(labels)
    return shares


@pytest.mark.parametrize("ignored", [None, 1])
@pytest.mark.parametrize("spatial", [*SPATIAL, (1,), (1, 4)])
def test_proportions_equal_a_plain_loop(spatial, ignored):
    target = batch(spatial, samples=1)[1]
    kept = None if ignored is None else (target != ignored).unsqueeze(1)
    shares = neighbourhood_proportions(hot(target), kept=kept, dtype=torch.float64)
    torch.testing.assert_close(shares[0], proportions_by_loop(target[0], 3, ignored))


@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize("spatial", [(8, 9), (6, 5, 7)])
def test_equals_monai_inside_the_border(spatial, norm):
    logits, target = batch(spatial, dtype=torch.float32)
    ours = gradient(NACL(0.3, norm=norm), logits, target)
    theirs = gradient(monai_nacl(len(spatial), alpha=0.3, distance_type=norm), logits, target)
    inside = (..., *[slice(1, -1)] * len(spatial))
    torch.testing.assert_close(ours[inside], theirs[inside])
    assert not torch.allclose(ours, theirs) or norm == "l1"  # l1's sign rarely sees the border


@pytest.mark.parametrize("spatial", [(8, 9), (6, 5, 7)])
def test_equals_monai_where_both_border_rules_count_alike(spatial):
    # Far negative logits: the slope of the distance is the same wherever tau lies, so the values
    # differ by the mean of tau alone, which is known: the window's missing share at the border.
    logits, target = batch(spatial, dtype=torch.float32)
    logits = logits.detach() - 50
    missing = torch.ones(1, 1, *spatial)
    for axis, size in enumerate(spatial):
        share = torch.ones(size)
        share[0] = share[-1] = 2 / 3
        missing = missing * share.view(*[-1 if a == axis else 1 for a in range(len(spatial))])
    difference = 0.1 * (1 - missing.mean()) / 3
    ours, theirs = NACL()(logits, target), monai_nacl(len(spatial))(logits, target)
    torch.testing.assert_close(ours - theirs, difference, rtol=0, atol=2e-6)


@pytest.mark.parametrize("spatial", SPATIAL)
def test_value_and_gradient_equal_their_formulas(spatial):
    logits, target = batch(spatial)
    tau = torch.stack([proportions_by_loop(t, 3) for t in target])
    penalty = (tau - logits).abs().mean()
    expected = F.cross_entropy(logits, target) + 0.1 * penalty
    torch.testing.assert_close(NACL()(logits, target), expected)
    voxels = target.numel()
    field = (torch.softmax(logits, 1) - hot(target)) / voxels
    field = field + 0.1 * torch.sign(logits - tau) / (3 * voxels)
    torch.testing.assert_close(gradient(NACL(), logits, target), field.detach())


def test_strength_zero_is_cross_entropy():
    logits, target = batch((4, 5))
    torch.testing.assert_close(NACL(0.0)(logits, target), F.cross_entropy(logits, target))


def test_class_weights_weigh_the_cross_entropy_only():
    logits, target = batch((4, 5))
    weights = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64)
    penalty = NACL()(logits, target) - F.cross_entropy(logits, target)
    expected = F.cross_entropy(logits, target, weights) + penalty
    torch.testing.assert_close(NACL(class_weights=weights)(logits, target), expected)


@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize("ignore_index", [None, 2])
def test_gradcheck(norm, ignore_index):
    logits, target = batch((3, 2))
    loss = NACL(0.5, norm=norm, ignore_index=ignore_index)
    assert torch.autograd.gradcheck(lambda z: loss(z, target), logits)


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_ignored_voxels_leave_no_trace(norm):
    logits, target = batch((30,))
    target[:, 20:] = 255
    loss = NACL(norm=norm, ignore_index=255)
    # An unlabelled neighbour counts as little as one beyond the border.
    rest = NACL(norm=norm)(logits[..., :20], target[..., :20])
    torch.testing.assert_close(loss(logits, target), rest)
    field = gradient(loss, logits, target)
    assert (field[..., 20:] == 0).all()
    assert (field[..., :20] != 0).all()


def test_nothing_labelled_is_zero_not_nan():
    logits, target = batch((5,))
    loss, ignored = NACL(ignore_index=7), torch.full_like(target, 7)
    assert loss(logits, ignored).item() == 0
    assert (gradient(loss, logits, ignored) == 0).all()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([(6,), (3, 4), (2, 3, 3)]))
def test_proportions_are_distributions_that_contain_the_label(seed, spatial):
    target = batch(spatial, seed=seed)[1]
    shares = neighbourhood_proportions(hot(target), dtype=torch.float64)
    torch.testing.assert_close(shares.sum(dim=1), torch.ones(target.shape, dtype=torch.float64))
    own = shares.gather(1, target.unsqueeze(1))
    assert (own >= 1 / 3 ** len(spatial) - 1e-12).all()


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.permutations(range(4)))
def test_order_of_samples_does_not_matter(seed, order):
    logits, target = batch((4, 3), samples=4, seed=seed)
    torch.testing.assert_close(NACL()(logits[order], target[order]), NACL()(logits, target))


def test_target_forms_agree():
    logits, target = batch((4, 5))
    value = NACL()(logits, target)
    for other in (target.unsqueeze(1), hot(target), hot(target).bool(), target.to(torch.uint8)):
        assert NACL()(logits, other) == value


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_and_autocast_are_computed_in_float32(dtype):
    logits, target = batch((6, 7), dtype=torch.float32)
    low = logits.detach().to(dtype)
    value = NACL()(low.float(), target)
    assert NACL()(low, target).dtype == torch.float32
    assert NACL()(low, target) == value
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert NACL()(low, target) == value


@pytest.mark.parametrize("ignore_index", [None, 255])
def test_compiles_into_one_graph(ignore_index):
    logits, target = batch((4, 5))
    loss = NACL(ignore_index=ignore_index)
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(logits, target), loss(logits, target))


@pytest.mark.parametrize(
    ("options", "message"), [({"strength": -0.1}, "strength.*-0.1"), ({"norm": "l3"}, "'l3'")]
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        NACL(**options)
