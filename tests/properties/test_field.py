import torch
from hypothesis import given
from hypothesis import strategies as st

from gradsurge import surgery_sigmoid, surgery_softmax
from tests.properties.asserts import (
    assert_binary_equals_listing,
    assert_field_is_closed_form,
    assert_forward_unchanged,
    assert_points_to_label,
    assert_sums_to_zero,
    normalised,
)
from tests.properties.cases import (
    blends,
    checked,
    declines,
    field_of,
    normalisations,
    scales,
    sigmoid_cases,
    softmax_cases,
)
from tests.properties.formulas import plain_sigmoid_field, sigmoid_field, soft_binary_field


@checked
@given(softmax_cases(), declines, scales, normalisations, blends)
def test_softmax_field_is_its_closed_form(case, decline, scale, normalise, blend):
    options = {"decline": decline, "scale": scale, "normalise": normalise, "blend": blend}
    field = field_of(surgery_softmax, case, **options)
    assert_field_is_closed_form(
        field, case.logits, case.target, case.g, activation="softmax", **options
    )


@checked
@given(softmax_cases(classes=st.just(2)), declines, normalisations)
def test_two_classes_are_the_listing(case, decline, normalise):
    field = field_of(surgery_softmax, case, decline=decline, scale=0.25, normalise=normalise)
    assert_binary_equals_listing(field, case.logits, case.target, case.g, decline, normalise)


@checked
@given(softmax_cases(classes=st.just(2)), declines, scales, normalisations)
def test_two_classes_are_the_multiclass_rule_with_a_class_that_never_occurs(
    case, decline, scale, normalise
):
    # A third channel at -inf leaves the other two alone, and takes the multi-class path.
    absent = torch.full_like(case.logits[:, :1], -torch.inf)
    logits = torch.cat((case.logits, absent), dim=1).requires_grad_()
    p = surgery_softmax(logits, case.target, decline, scale, normalise)
    g = torch.cat((case.g, torch.zeros_like(absent)), dim=1)
    (three,) = torch.autograd.grad(p, logits, g)
    two = field_of(surgery_softmax, case, decline=decline, scale=scale, normalise=normalise)
    torch.testing.assert_close(three[:, :2], two, rtol=1e-9, atol=1e-14)
    assert torch.equal(three[:, 2], torch.zeros_like(three[:, 2]))


@checked
@given(softmax_cases(), declines, scales, normalisations, blends)
def test_softmax_field_sums_to_zero(case, decline, scale, normalise, blend):
    options = {"decline": decline, "scale": scale, "normalise": normalise, "blend": blend}
    field = field_of(surgery_softmax, case, **options)
    g = normalised(case.g, case.logits, case.target, normalise, softmax=True, blend=blend)
    assert_sums_to_zero(field, None if blend == 1.0 else g)


@checked
@given(softmax_cases(), declines, normalisations, st.floats(0.05, 0.95), st.booleans())
def test_points_to_the_label_for_dice_and_tversky(case, decline, normalise, a, batch):
    z = case.logits.clone().requires_grad_()
    p = surgery_softmax(z, case.target, decline, normalise=normalise)
    y = torch.nn.functional.one_hot(case.target, z.shape[1]).movedim(-1, 1)
    over = (*((0,) if batch else ()), *range(2, z.ndim))
    tp, fp = (p * y).sum(over), (p * (1 - y)).sum(over)
    score = (tp + 1e-5) / (tp + a * fp + (1 - a) * ((1 - p) * y).sum(over) + 1e-5)
    (field,) = torch.autograd.grad((1 - score).mean(), z)
    assert_points_to_label(field, case.target)


@checked
@given(softmax_cases(), sigmoid_cases())
def test_forward_is_torchs_bit_for_bit(exclusive, overlapping):
    for dtype in (torch.float64, torch.float32, torch.bfloat16, torch.float16):
        z = exclusive.logits.to(dtype)
        assert_forward_unchanged(surgery_softmax(z, exclusive.target), z, "softmax")
        z = overlapping.logits.to(dtype)
        assert_forward_unchanged(surgery_sigmoid(z, overlapping.target), z, "sigmoid")


@checked
@given(softmax_cases(), sigmoid_cases(), declines, normalisations)
def test_blend_zero_is_the_ordinary_gradient(exclusive, overlapping, decline, normalise):
    for case, operator, plain in (
        (exclusive, surgery_softmax, lambda z: torch.softmax(z, dim=1)),
        (overlapping, surgery_sigmoid, torch.sigmoid),
    ):
        z = case.logits.clone().requires_grad_()
        (expected,) = torch.autograd.grad(plain(z), z, case.g)
        field = field_of(operator, case, decline=decline, normalise=normalise, blend=0.0)
        torch.testing.assert_close(field, expected, rtol=0, atol=1e-14)


@checked
@given(sigmoid_cases(), declines, scales, normalisations, blends)
def test_sigmoid_field_is_its_closed_form(case, decline, scale, normalise, blend):
    options = {"decline": decline, "scale": scale, "normalise": normalise, "blend": blend}
    field = field_of(surgery_sigmoid, case, **options)
    assert_field_is_closed_form(
        field, case.logits, case.target, case.g, activation="sigmoid", **options
    )


@checked
@given(sigmoid_cases(soft=True), declines, scales, normalisations, blends)
def test_soft_labels_of_channels_use_the_distance_to_the_label(
    case, decline, scale, normalise, blend
):
    options = {"decline": decline, "scale": scale, "normalise": normalise, "blend": blend}
    field = field_of(surgery_sigmoid, case, **options)
    g = normalised(case.g, case.logits, case.target, normalise, softmax=False, blend=blend)
    operated = sigmoid_field(case.logits, case.target, g, decline, scale)
    plain = plain_sigmoid_field(case.logits, g)
    expected = (1 - blend) * plain + blend * operated
    torch.testing.assert_close(field, expected, rtol=1e-9, atol=1e-12)


@checked
@given(softmax_cases(classes=st.just(2)), st.data(), declines, scales, normalisations)
def test_soft_labels_of_two_classes_use_the_distance_to_the_label(
    case, data, decline, scale, normalise
):
    share = st.lists(st.floats(0, 1), min_size=case.target.numel(), max_size=case.target.numel())
    y = torch.tensor(data.draw(share), dtype=torch.float64).view_as(case.target)
    soft = torch.stack((1 - y, y), dim=1)
    options = {"decline": decline, "scale": scale, "normalise": normalise}
    field = field_of(surgery_softmax, case, soft, **options)
    g = normalised(case.g, case.logits, soft, normalise, softmax=True)
    expected = soft_binary_field(case.logits, y, g, decline, scale)
    torch.testing.assert_close(field, expected, rtol=1e-9, atol=1e-12)
