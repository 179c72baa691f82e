"""What a sketch takes: layouts, dtypes and masks; and what it refuses, without a trace."""

import copy
import math
import re

import numpy as np
import pytest
import torch

from gradsurge.calibration import CalibrationSketch

P = np.random.default_rng(0).random((3, 4, 5))
Y = np.random.default_rng(1).integers(0, 2, (3, 4, 5))
EXPECTED = CalibrationSketch().update_probabilities(P, Y)


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


LAYOUTS = {
    "as it is": lambda a: a,
    "fortran order": np.asfortranarray,
    "read-only": read_only,
    "big-endian": lambda a: a.astype(a.dtype.newbyteorder(">")),
    "negative strides": lambda a: a[::-1].copy()[::-1],
    "every other": lambda a: np.repeat(a, 2, axis=2)[:, :, ::2],
    "transposed": lambda a: a.transpose(2, 0, 1).copy().transpose(1, 2, 0),
    "nested lists": lambda a: a.tolist(),
    "tensor": torch.from_numpy,
    "channels last": lambda a: torch.from_numpy(a).movedim(1, 2).contiguous().movedim(1, 2),
    "expanded": lambda a: torch.from_numpy(a)[None].expand(1, *a.shape)[0],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout):
    change = LAYOUTS[layout]
    assert CalibrationSketch().update_probabilities(change(P), change(Y)) == EXPECTED
    mask = np.ones(P.shape, bool)
    mask[1, 2] = False
    masked = CalibrationSketch().update_probabilities(change(P), change(Y), change(mask))
    assert masked == CalibrationSketch().update_probabilities(P[mask], Y[mask])


@pytest.mark.parametrize(
    "dtype", ["uint8", "int8", "int16", "uint16", "int32", "uint32", "uint64", "bool"]
)
def test_label_dtypes(dtype):
    assert CalibrationSketch().update_probabilities(P, Y.astype(dtype)) == EXPECTED
    tensor = torch.from_numpy(Y).to(getattr(torch, dtype))
    assert CalibrationSketch().update_probabilities(P, tensor) == EXPECTED
    p = np.stack((1 - P, P, 0 * P), axis=1)
    many = CalibrationSketch("multiclass", 3).update_probabilities(p, tensor)
    assert many == CalibrationSketch("multiclass", 3).update_probabilities(p, Y)
    overlapping = CalibrationSketch("multilabel", 1).update_probabilities(
        P[:, None], tensor[:, None]
    )
    assert overlapping.ece() == EXPECTED.ece()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_narrow_probabilities_are_taken_as_they_are(dtype):
    narrow = torch.from_numpy(P).to(dtype)
    same = CalibrationSketch().update_probabilities(narrow.double(), Y)
    found = CalibrationSketch().update_probabilities(narrow, Y)
    np.testing.assert_array_equal(found.lens().counts, same.lens().counts)
    assert found.ece() == pytest.approx(same.ece(), abs=1e-13)
    logits = torch.from_numpy(P * 8 - 4).to(dtype)
    from_logits = CalibrationSketch().update_logits(logits, Y)
    assert from_logits == CalibrationSketch().update_logits(logits.double(), Y)


def test_wide_probabilities_are_rounded_to_float64():
    assert CalibrationSketch().update_probabilities(P.astype(np.longdouble), Y) == EXPECTED


def test_tensors_with_gradients():
    z = torch.from_numpy(P).requires_grad_()
    assert CalibrationSketch().update_probabilities(z * 1.0, Y) == EXPECTED
    assert CalibrationSketch().update_logits(z.float(), Y).voxels == 60
    assert z.grad is None


def test_inputs_are_not_written_to():
    p, y = torch.from_numpy(P.copy()), torch.from_numpy(Y.copy())
    CalibrationSketch().update_probabilities(p, y)
    CalibrationSketch().update_logits(p, y)
    both = torch.stack((p, 1 - p), 1)
    CalibrationSketch("multiclass", 2).update_probabilities(both, y)
    np.testing.assert_array_equal(p.numpy(), P)
    np.testing.assert_array_equal(y.numpy(), Y)
    np.testing.assert_array_equal(both[:, 1].numpy(), 1 - P)


@pytest.mark.parametrize("shape", [(0,), (0, 4), (2, 0, 3)])
def test_empty_arrays_count_nothing(shape):
    sketch = CalibrationSketch().update_probabilities(np.zeros(shape), np.zeros(shape, int))
    assert sketch == CalibrationSketch()
    many = CalibrationSketch("multiclass", 3)
    wide = (shape[0], 3, *shape[1:])
    many.update_probabilities(np.zeros(wide), np.zeros(shape, int))
    many.update_logits(np.zeros(wide), np.zeros(shape, int), np.zeros(shape, bool))
    assert many == CalibrationSketch("multiclass", 3)
    overlapping = CalibrationSketch("multilabel", 3)
    assert overlapping.update_logits(np.zeros(wide), np.zeros(wide, bool)).voxels == 0


@pytest.mark.parametrize("kind", ["binary", "multiclass", "multilabel"])
def test_what_is_masked_out_may_be_anything(kind):
    sketch = CalibrationSketch(kind, 2)
    z, y = torch.full((1, 2, 6), torch.nan), torch.full((1, 6), 255)
    y = y[:, None].expand(1, 2, 6) if kind == "multilabel" else y
    none = torch.zeros(1, 6, dtype=torch.bool)
    sketch.update_logits(z, y, none).update_probabilities(z, y, none)
    assert sketch.voxels == 0
    assert math.isnan(sketch.nll())


@pytest.mark.parametrize("kind", ["binary", "multiclass", "multilabel"])
@pytest.mark.parametrize("channel", [False, True])
def test_masks_choose_voxels(kind, channel):
    z = torch.randn(2, 2, 3, 4)
    y = torch.randint(0, 2, (2, 2, 3, 4) if kind == "multilabel" else (2, 3, 4))
    mask = torch.rand(2, 3, 4) < 0.5
    found = CalibrationSketch(kind, 2).update_logits(z, y, mask[:, None] if channel else mask)
    chosen = z.movedim(1, -1)[mask]
    labels = y.movedim(1, -1)[mask] if kind == "multilabel" else y[mask]
    same = CalibrationSketch(kind, 2).update_logits(chosen, labels)
    assert found.voxels == int(mask.sum())
    assert found.nll() == pytest.approx(same.nll(), rel=1e-12)
    np.testing.assert_array_equal(found.histograms[0].counts, same.histograms[0].counts)


def with_value(value):
    changed = P.copy()
    changed[1, 2, 3] = value
    return changed


ONES = np.ones((3, 4, 5), bool)
BAD = {
    "NaN": (with_value(np.nan), Y, None, ValueError, r"probabilities: .*\[0, 1\], got nan"),
    "infinite": (with_value(np.inf), Y, None, ValueError, r"\[0, 1\], got .* inf"),
    "above 1": (with_value(1.0001), Y, None, ValueError, r"got .* 1.0001; for logits there is"),
    "below 0": (with_value(-1e-9), Y, None, ValueError, r"got -1e-09 \.\."),
    "whole numbers": (Y, Y, None, TypeError, "probabilities: expected floating point, got"),
    "complex": (P * 1j, Y, None, TypeError, "probabilities: expected an array of numbers, got"),
    "text": ([["a"]], Y, None, TypeError, "probabilities: expected an array of numbers, got"),
    "objects": (P.astype(object), Y, None, TypeError, "probabilities: .* got dtype object"),
    "other shape": (
        P[:2],
        Y,
        None,
        ValueError,
        r"probabilities and labels: .* got \(2, 4, 5\) and",
    ),
    "three channels": (np.stack([P] * 3, 1), Y, None, ValueError, r"\(N, 1 or 2, \*S\) and"),
    "no sum of 1": (
        np.stack([P, P], 1),
        Y,
        None,
        ValueError,
        "expected classes that sum to 1, got",
    ),
    "float labels": (P, Y.astype(float), None, TypeError, "labels: expected whole numbers or bool"),
    "text labels": (P, Y.astype(str), None, TypeError, "labels: expected an array of numbers"),
    "label 2": (
        P,
        Y + 1,
        None,
        ValueError,
        r"labels: expected 0 \.\. 1, got 1 \.\. 2; leave voxels",
    ),
    "label -1": (P, -Y, None, ValueError, r"labels: expected 0 \.\. 1, got -1 \.\. 0"),
    "huge label": (P, Y.astype(np.uint64) << 63, None, ValueError, r"labels: expected 0 \.\. 1"),
    "whole mask": (P, Y, Y, TypeError, "mask: expected booleans, true where a voxel counts, got"),
    "turned mask": (
        P,
        Y,
        ONES.transpose(0, 2, 1),
        ValueError,
        r"mask: expected \(3, 4, 5\), got \(3",
    ),
    "short mask": (P, Y, ONES[:2], ValueError, r"mask: expected \(3, 4, 5\), got \(2, 4, 5\)"),
}


@pytest.mark.parametrize("fault", BAD)
def test_a_refused_update_leaves_no_trace(fault):
    p, y, mask, error, text = BAD[fault]
    sketch = copy.deepcopy(EXPECTED)
    with pytest.raises(error, match=text):
        sketch.update_probabilities(p, y, mask)
    assert sketch == EXPECTED


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", ["binary", "multiclass", "multilabel"])
def test_refused_logits(kind, value):
    z, y = torch.zeros(2, 2, 5), torch.zeros(2, 5, dtype=torch.long)
    y = y[:, None].expand(2, 2, 5) if kind == "multilabel" else y
    z[1, 1, 3] = value  # in the second image: the first must not be counted either
    sketch = CalibrationSketch(kind, 2)
    with pytest.raises(ValueError, match="logits: expected finite numbers, got"):
        sketch.update_logits(z, y)
    assert sketch == CalibrationSketch(kind, 2)


@pytest.mark.parametrize(
    ("kind", "p", "y", "text"),
    [
        (
            "multiclass",
            (2, 2, 5),
            (2, 5),
            r"expected \(N, 3, \*S\) and \(N, \*S\), got \(2, 2, 5\)",
        ),
        ("multiclass", (2, 3, 5), (2, 3, 5), r"expected \(N, 3, \*S\) and \(N, \*S\)"),
        ("multiclass", (3,), (3,), r"expected \(N, 3, \*S\) and \(N, \*S\), got \(3,\) and \(3,\)"),
        ("multilabel", (2, 3, 5), (2, 5), r"expected both \(N, 3, \*S\), got"),
        ("multilabel", (2, 2, 5), (2, 2, 5), r"expected both \(N, 3, \*S\), got"),
        ("multilabel", (3,), (3,), r"expected both \(N, 3, \*S\), got"),
    ],
)
def test_refused_shapes(kind, p, y, text):
    with pytest.raises(ValueError, match=text):
        CalibrationSketch(kind, 3).update_logits(torch.zeros(p), torch.zeros(y, dtype=torch.long))


@pytest.mark.parametrize("shape", [(7,), (1, 4, 5), (2, 3, 4, 2)])
@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int64])
def test_one_hot_labels_are_no_foreground(shape, dtype):
    y = torch.randint(0, 2, shape)
    one_hot = torch.nn.functional.one_hot(y, 2).movedim(-1, 1)
    z = torch.randn(one_hot.shape)
    for update, scores in (("update_logits", z), ("update_probabilities", z.softmax(1))):
        sketch = CalibrationSketch()
        with pytest.raises(ValueError, match=r"labels: .*got one-hot labels of two classes"):
            getattr(sketch, update)(scores, one_hot.to(dtype))
        assert sketch.voxels == 0
        assert getattr(sketch, update)(scores, one_hot.argmax(1)).voxels == y.numel()


def test_two_channels_of_foreground_are_no_one_hot_labels():
    p, y = torch.rand(1, 2, 4), torch.tensor([[[0, 1, 1, 0], [1, 0, 1, 1]]])
    assert CalibrationSketch().update_probabilities(p, y).voxels == 8
    opposite = torch.cat((y[:, :1], 1 - y[:, :1]), dim=1)
    assert CalibrationSketch().update_probabilities(p[:, None], opposite[:, None]).voxels == 8


@pytest.mark.parametrize("label", [3, -1])
def test_refused_classes(label):
    labels = torch.tensor([[0, label]])
    with pytest.raises(ValueError, match=r"labels: expected 0 \.\. 2, got"):
        CalibrationSketch("multiclass", 3).update_logits(torch.zeros(1, 3, 2), labels)
    with pytest.raises(ValueError, match=r"labels: expected 0 \.\. 1, got"):
        CalibrationSketch("multilabel", 1).update_logits(torch.zeros(1, 1, 2), labels[:, None])


def test_sums_off_by_the_storage_are_taken():
    p = np.round(np.array([[1 / 3, 1 / 3, 1 / 3], [0.002, 0.002, 0.996]]) * 255) / 255
    sketch = CalibrationSketch("multiclass", 3).update_probabilities(p, np.array([0, 2]))
    assert sketch.voxels == 2


@pytest.mark.parametrize("value", [15.0, 2.5, "15", True, [15]])
def test_what_is_counted_is_a_whole_number(value):
    says = rf"expected a whole number, got {re.escape(repr(value))}"
    for score in ("ece", "mce", "ace", "equal_mass_ece", "reliability"):
        with pytest.raises(TypeError, match=f"bins: {says}"):
            getattr(EXPECTED, score)(value)
    with pytest.raises(TypeError, match=f"classes: {says}"):
        CalibrationSketch("multiclass", value)
    with pytest.raises(TypeError, match=f"resolution: {says}"):
        CalibrationSketch(resolution=value)


def test_numpys_whole_numbers_are_some():
    assert EXPECTED.ece(np.int32(15)) == EXPECTED.ece()
    assert CalibrationSketch("multiclass", np.int64(3), np.int64(1000)).classes == 3
