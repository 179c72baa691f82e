"""The forms in which labels come, and what does not count."""

import pytest
import torch
import torch.nn.functional as F

from gradsurge import make_loss, surgery_sigmoid, surgery_softmax
from tests.properties.asserts import assert_field_is_closed_form, assert_no_field_at
from tests.properties.formulas import normalisation_of

SPATIAL = [(7,), (4, 5), (3, 2, 4)]
INDEX_DTYPES = [
    torch.uint8,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.uint16,
    torch.uint32,
    torch.float32,
    torch.float16,
    torch.bfloat16,
]


def batch(classes=3, spatial=(4, 5), seed=0):
    r = torch.Generator().manual_seed(seed)
    logits = torch.randn(2, classes, *spatial, generator=r, dtype=torch.float64) * 3
    g = torch.randn(2, classes, *spatial, generator=r, dtype=torch.float64)
    target = torch.randint(0, classes, (2, *spatial), generator=r)
    return logits, target, g


def field(operator, logits, target, g, **options):
    z = logits.clone().requires_grad_()
    return torch.autograd.grad(operator(z, target, **options), z, g)[0]


def one_hot(target, classes):
    return F.one_hot(target.long(), classes).movedim(-1, 1)


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("spatial", SPATIAL)
def test_one_to_three_axes(classes, spatial):
    logits, target, g = batch(classes, spatial)
    options = {"decline": 20.0, "scale": 0.25, "normalise": classes != 3}
    found = field(surgery_softmax, logits, target, g, **options)
    assert_field_is_closed_form(found, logits, target, g, activation="softmax", **options)
    hot = one_hot(target, classes)
    found = field(surgery_sigmoid, logits, hot, g, **options)
    assert_field_is_closed_form(found, logits, hot, g, activation="sigmoid", **options)


@pytest.mark.parametrize("dtype", INDEX_DTYPES)
@pytest.mark.parametrize("classes", [2, 4])
def test_index_dtypes_agree(dtype, classes):
    logits, target, g = batch(classes)
    expected = field(surgery_softmax, logits, target, g)
    assert torch.equal(field(surgery_softmax, logits, target.to(dtype), g), expected)
    channel_axis = target.to(dtype).unsqueeze(1)
    assert torch.equal(field(surgery_softmax, logits, channel_axis, g), expected)


def test_bool_indices_name_background_and_foreground():
    logits, target, g = batch(2)
    expected = field(surgery_softmax, logits, target, g)
    assert torch.equal(field(surgery_softmax, logits, target.bool(), g), expected)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int64, torch.bool, torch.float32])
@pytest.mark.parametrize("classes", [2, 3])
def test_one_hot_labels_agree_with_indices(dtype, classes):
    logits, target, g = batch(classes)
    expected = field(surgery_softmax, logits, target, g)
    found = field(surgery_softmax, logits, one_hot(target, classes).to(dtype), g)
    torch.testing.assert_close(found, expected, rtol=1e-14, atol=1e-16)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.bool, torch.uint16])
def test_channel_label_dtypes_agree_with_float_ones(dtype):
    logits, target, g = batch(3)
    hot = one_hot(target, 3)
    expected = field(surgery_sigmoid, logits, hot.double(), g)
    found = field(surgery_sigmoid, logits, hot.to(dtype), g)
    torch.testing.assert_close(found, expected, rtol=1e-14, atol=1e-16)


def test_a_single_channel_may_leave_out_its_axis():
    logits, target, g = batch(2)
    z, one = logits[:, :1], g[:, :1]
    expected = field(surgery_sigmoid, z, target.unsqueeze(1), one)
    assert torch.equal(field(surgery_sigmoid, z, target, one), expected)


def test_soft_labels_of_more_than_two_classes_are_refused():
    logits, target, _ = batch(3)
    soft = one_hot(target, 3).double() * 0.9 + 0.1 / 3
    with pytest.raises(ValueError, match="target: expected hard one-hot labels"):
        surgery_softmax(logits, soft)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("ignore_index", [255, -1, 1])
@pytest.mark.parametrize("blend", [1.0, 0.3, 0.0])
def test_ignored_voxels_get_nothing_and_change_nothing(classes, ignore_index, blend):
    logits, target, g = batch(classes)
    left_out = torch.zeros_like(target, dtype=torch.bool)
    left_out[0, 0] = left_out[1, :, 2] = True
    left_out |= target == ignore_index
    marked = target.masked_fill(left_out, ignore_index)
    kept = (~left_out).unsqueeze(1)
    p, y = logits.softmax(1) * kept, one_hot(target, classes) * kept
    for normalise, room in ((False, 0.0), (True, 1e-12), ("batch", 1e-12)):
        options = {"normalise": normalise, "blend": blend}
        with_index = field(surgery_softmax, logits, marked, g, ignore_index=ignore_index, **options)
        with_mask = field(surgery_softmax, logits, target, g, mask=~left_out, **options)
        factor = normalisation_of(p, y, normalise, softmax=True, blend=blend)
        expected = field(surgery_softmax, logits, target, g * factor, normalise=False, blend=blend)
        for found in (with_index, with_mask):
            assert_no_field_at(found, left_out)
            torch.testing.assert_close(found, expected * kept, rtol=room, atol=room)


@pytest.mark.parametrize("operator", [surgery_softmax, surgery_sigmoid])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("says", [1e30, torch.inf, torch.nan])
def test_no_gradient_where_masked_whatever_the_loss_says(operator, classes, says):
    logits, target, g = batch(classes)
    if operator is surgery_sigmoid:
        target = one_hot(target, classes)
    mask = torch.ones(2, 4, 5, dtype=torch.uint8)
    mask[:, 1:3] = 0
    g = torch.where(mask.unsqueeze(1) == 0, says, g)
    found = field(operator, logits, target, g, mask=mask)
    assert_no_field_at(found, mask == 0)
    assert bool(found.isfinite().all())


def test_mask_forms_agree():
    logits, target, g = batch(3)
    mask = torch.rand(2, 4, 5, generator=torch.Generator().manual_seed(1)) > 0.4
    expected = field(surgery_softmax, logits, target, g, mask=mask)
    for form in (mask.unsqueeze(1), mask.double(), mask.to(torch.uint8) * 7, mask.long()):
        assert torch.equal(field(surgery_softmax, logits, target, g, mask=form), expected)


def test_a_sigmoid_mask_may_differ_between_channels():
    logits, target, g = batch(3)
    hot = one_hot(target, 3)
    mask = torch.rand(2, 3, 4, 5, generator=torch.Generator().manual_seed(1)) > 0.4
    for normalise, room in ((False, 0.0), (True, 1e-12)):
        found = field(surgery_sigmoid, logits, hot, g, mask=mask, normalise=normalise)
        p, y = logits.sigmoid() * mask, hot * mask
        factor = normalisation_of(p, y, normalise, softmax=False)
        everywhere = field(surgery_sigmoid, logits, hot, g * factor, normalise=False)
        expected = torch.where(mask, everywhere, 0.0)
        torch.testing.assert_close(found, expected, rtol=room, atol=room)


def test_an_ignore_index_the_dtype_cannot_hold_ignores_nothing():
    # torch compares uint8 255 with -1 as equal; a stray 255 must still be found.
    logits, target, _ = batch(2)
    target[0, 0, 0] = 255
    with pytest.raises(ValueError, match=r"target: expected labels 0\.\.1, got 255"):
        surgery_softmax(logits, target.to(torch.uint8), ignore_index=-1)


@pytest.mark.parametrize("name", ["dice", "ce+dice-surgery"])
@pytest.mark.parametrize("odd", [torch.nan, 0.5, 255.0])
def test_float_labels_may_be_anything_where_they_do_not_count(name, odd):
    logits, target, _ = batch(3)
    mask = torch.ones_like(target, dtype=torch.bool)
    mask[0, 0] = False
    loss = make_loss(name, check=False)
    expected = loss(logits, target.float(), mask=mask)
    strange = target.float()
    strange[0, 0] = odd
    assert loss(logits, strange, mask=mask) == expected


@pytest.mark.parametrize("weights", [(1.0, 1.0), (1.0, 0.0)])
def test_unchecked_nan_logits_are_not_hidden(weights):
    logits, target, _ = batch(3)
    logits[0, 1, 2, 2] = torch.nan
    loss = make_loss("ce+dice-surgery", weights=weights, check=False)
    assert loss(logits, target).isnan()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("name", ["ce", "dice", "ce+dice-surgery"])
def test_soft_labels_are_taken_in_the_precision_they_are_stored_in(name, dtype):
    y = torch.linspace(0, 1, 301)[None, None]
    z, target = torch.randn(1, 2, 301), torch.cat((1 - y, y), dim=1).to(dtype)
    expected = make_loss(name)(z, torch.cat((1 - y, y), dim=1)).item()
    assert make_loss(name)(z, target).item() == pytest.approx(expected, rel=2e-3)
    with pytest.raises(ValueError, match="target: expected two channels that sum to 1"):
        make_loss(name)(z, target * 0.98)
