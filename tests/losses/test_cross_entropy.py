import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from gradsurge.losses.cross_entropy import CrossEntropy
from tests.losses.batches import batch, gradient

SPATIAL = [(7,), (4, 5), (3, 4, 2)]


@pytest.mark.parametrize("spatial", SPATIAL)
def test_softmax_equals_torch(spatial):
    logits, target = batch(spatial)
    weights = [0.5, 1.0, 3.0]
    torch.testing.assert_close(CrossEntropy()(logits, target), F.cross_entropy(logits, target))
    torch.testing.assert_close(
        CrossEntropy(class_weights=weights)(logits, target),
        F.cross_entropy(logits, target, torch.tensor(weights, dtype=torch.float64)),
    )


@pytest.mark.parametrize("spatial", SPATIAL)
def test_soft_labels_equal_torch(spatial):
    logits, _ = batch(spatial)
    q = torch.softmax(batch(spatial, seed=1)[0].detach(), dim=1)
    torch.testing.assert_close(CrossEntropy()(logits, q), F.cross_entropy(logits, q))


@pytest.mark.parametrize("weights", [None, [0.5, 1.0, 3.0]])
def test_indices_channel_axis_and_one_hot_agree(weights):
    logits, target = batch((4, 5))
    loss = CrossEntropy(class_weights=weights)
    hot = F.one_hot(target, 3).movedim(-1, 1)
    value = loss(logits, target)
    for other in (target.unsqueeze(1), hot, hot.bool(), hot.float(), target.to(torch.uint8)):
        torch.testing.assert_close(loss(logits, other), value)


@pytest.mark.parametrize("spatial", SPATIAL)
def test_sigmoid_equals_torch(spatial):
    logits, _ = batch(spatial)
    y = torch.rand(logits.shape, generator=torch.Generator().manual_seed(3)).double()
    expected = F.binary_cross_entropy_with_logits(logits, y)
    torch.testing.assert_close(CrossEntropy(activation="sigmoid")(logits, y), expected)


def test_sigmoid_weights_are_a_weighted_mean_over_channels():
    logits, _ = batch((6,))
    y = (torch.rand(logits.shape, generator=torch.Generator().manual_seed(3)) > 0.5).double()
    each = F.binary_cross_entropy_with_logits(logits, y, reduction="none").mean(dim=(0, 2))
    loss = CrossEntropy(activation="sigmoid", class_weights=[1.0, 0.0, 3.0])
    torch.testing.assert_close(loss(logits, y), (each[0] + 3 * each[2]) / 4)


def test_one_channel_sigmoid_takes_a_plain_mask():
    logits, target = batch((4, 5), classes=1)
    mask = torch.rand(target.shape) > 0.5
    expected = F.binary_cross_entropy_with_logits(logits[:, 0], mask.double())
    torch.testing.assert_close(CrossEntropy(activation="sigmoid")(logits, mask), expected)


def test_gradient_is_the_error_over_the_voxels():
    logits, target = batch((4, 5))
    hot = F.one_hot(target, 3).movedim(-1, 1)
    expected = (torch.softmax(logits, 1) - hot) / target.numel()
    torch.testing.assert_close(gradient(CrossEntropy(), logits, target), expected.detach())
    sigmoid = (torch.sigmoid(logits) - hot) / hot.numel()
    loss = CrossEntropy(activation="sigmoid")
    torch.testing.assert_close(gradient(loss, logits, hot), sigmoid.detach())


@pytest.mark.parametrize("weights", [None, [0.5, 1.0, 3.0]])
@pytest.mark.parametrize("form", ["indices", "soft", "sigmoid"])
def test_gradcheck(form, weights):
    logits, target = batch((4,))
    if form != "indices":
        target = torch.softmax(batch((4,), seed=5)[0].detach(), dim=1)
    activation = "sigmoid" if form == "sigmoid" else "softmax"
    loss = CrossEntropy(activation=activation, class_weights=weights)
    assert torch.autograd.gradcheck(lambda z: loss(z, target), logits)


@pytest.mark.parametrize("weights", [None, [0.5, 1.0, 3.0]])
@pytest.mark.parametrize("ignore_index", [255, -1])
def test_ignored_voxels_leave_no_trace(weights, ignore_index):
    logits, target = batch((30,), samples=1)
    target[0, 20:] = ignore_index
    loss = CrossEntropy(class_weights=weights, ignore_index=ignore_index)
    rest = CrossEntropy(class_weights=weights)(logits[..., :20], target[..., :20])
    torch.testing.assert_close(loss(logits, target), rest)
    field = gradient(loss, logits, target)
    assert (field[..., 20:] == 0).all()
    assert (field[..., :20] != 0).all()


def test_ignore_index_needs_class_indices():
    logits, target = batch((30,))
    with pytest.raises(ValueError, match=r"ignore_index.*\(2, 3, 30\)"):
        CrossEntropy(ignore_index=255)(logits, F.one_hot(target, 3).movedim(-1, 1))


def test_ignored_entries_of_sigmoid_channels_leave_no_trace():
    logits, _ = batch((30,), samples=1)
    y = (torch.rand(logits.shape) > 0.5).double()
    y[0, 1, 5:] = 255
    loss = CrossEntropy(activation="sigmoid", ignore_index=255)
    valid = y != 255
    expected = F.binary_cross_entropy_with_logits(logits[valid], y[valid])
    torch.testing.assert_close(loss(logits, y), expected)
    assert ((gradient(loss, logits, y) == 0) == ~valid).all()


@pytest.mark.parametrize("activation", ["softmax", "sigmoid"])
def test_nothing_labelled_is_zero_not_nan(activation):
    logits, target = batch((5,))
    ignored = torch.full_like(logits if activation == "sigmoid" else target, 9)
    loss = CrossEntropy(activation=activation, ignore_index=9)
    assert loss(logits, ignored).item() == 0
    assert (gradient(loss, logits, ignored) == 0).all()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.permutations(range(4)))
def test_order_of_samples_does_not_matter(seed, order):
    logits, target = batch((3, 3), samples=4, seed=seed)
    loss = CrossEntropy(class_weights=[1.0, 2.0, 0.0])
    torch.testing.assert_close(loss(logits[order], target[order]), loss(logits, target))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_is_computed_in_float32(dtype):
    logits, target = batch((50,), dtype=torch.float32)
    low = logits.detach().to(dtype)
    value = CrossEntropy()(low, target)
    assert value.dtype == torch.float32
    assert value == CrossEntropy()(low.float(), target)


def test_extreme_logits_stay_finite():
    logits = torch.tensor([[[1e4, -1e4], [-1e4, 1e4]]], requires_grad=True)
    field = gradient(CrossEntropy(), logits, torch.tensor([[1, 1]]))
    assert field.isfinite().all()
    assert field[0, 1, 0] == -0.5


def test_compiles_into_one_graph():
    logits, target = batch((4, 5))
    loss = CrossEntropy(class_weights=[1.0, 2.0, 3.0], ignore_index=0)
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(logits, target), loss(logits, target))


def test_a_stray_255_is_not_taken_for_minus_one():
    # torch compares uint8 with -1 as if it were 255.
    target = torch.tensor([[[0, 255, 1]]], dtype=torch.uint8)
    with pytest.raises(ValueError, match=r"target: .*from 0 to 255"):
        CrossEntropy(activation="sigmoid", ignore_index=-1)(torch.zeros(1, 1, 3), target)


BAD_INPUTS = [
    ({"target": torch.zeros(2, 3, 4)}, ValueError, "3 channels that sum to 1.*sums from 0 to 0"),
    ({"target": torch.full((2, 3, 4), 2.0)}, ValueError, r"\[0, 1\]"),
]


@pytest.mark.parametrize(("change", "error", "message"), BAD_INPUTS)
def test_bad_inputs_are_named(change, error, message):
    inputs = {"logits": torch.zeros(2, 3, 4), "target": torch.zeros(2, 4)} | change
    with pytest.raises(error, match=message):
        CrossEntropy()(**inputs)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"activation": "tanh"}, "'tanh'"),
        ({"activation": "sigmoid", "ignore_index": 1}, "ignore_index"),
        ({"class_weights": [1.0, -1.0]}, "class_weights"),
        ({"class_weights": [0.0, 0.0]}, "class_weights"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        CrossEntropy(**options)


def test_wrong_number_of_weights_is_named():
    with pytest.raises(ValueError, match="need 3 weights"):
        CrossEntropy(class_weights=[1.0, 2.0])(torch.zeros(1, 3, 4), torch.zeros(1, 4))


def test_checks_can_be_turned_off():
    logits = torch.zeros(1, 2, 3)
    logits[0, 0, 0] = torch.nan
    assert CrossEntropy(check=False)(logits, torch.zeros(1, 3)).isnan()
