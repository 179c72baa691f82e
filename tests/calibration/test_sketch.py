"""The sketch of each kind: from logits and from probabilities, against plain definitions."""

import math
import pickle

import numpy as np
import pytest
import torch
from sklearn.metrics import log_loss

from gradsurge.calibration import Bounded, CalibrationSketch, scores
from gradsurge.calibration.temperature_curve import INVERSE_TEMPERATURES
from tests.calibration import definitions


def exclusive(classes=4, shape=(2, 5, 6), dtype=torch.float64):
    logits = torch.randn(shape[0], classes, *shape[1:], dtype=dtype) * 3
    return logits, torch.randint(0, classes, shape)


def by_voxel(values):
    """(N, C, *S) to (V, C)."""
    return values.movedim(1, -1).flatten(0, -2)


def test_binary_logits_are_the_probabilities_of_sigmoid():
    z = torch.linspace(-12, 12, 200, dtype=torch.float64)
    y = torch.arange(200) % 3 == 0
    logits = CalibrationSketch().update_logits(z, y)
    probabilities = CalibrationSketch().update_probabilities(z.sigmoid(), y)
    np.testing.assert_array_equal(logits.lens().counts, probabilities.lens().counts)
    assert logits.nll() == pytest.approx(probabilities.nll(), rel=1e-10)
    assert logits.ece() == pytest.approx(definitions.ece(z.sigmoid(), y, 15), abs=1e-12)


@pytest.mark.parametrize("gap", [-800.0, -80.0, -40.0, 40.0, 80.0, 800.0])
@pytest.mark.parametrize("label", [0, 1])
def test_extreme_logits_saturate_nothing(gap, label):
    expected = max(0.0, -gap if label else gap) + math.log1p(math.exp(-abs(gap)))
    one = CalibrationSketch().update_logits(torch.tensor([gap]), torch.tensor([label]))
    both = torch.tensor([[0.0, gap]])
    two = CalibrationSketch().update_logits(both, torch.tensor([label]))
    many = CalibrationSketch("multiclass", 2).update_logits(both, torch.tensor([label]))
    overlapping = CalibrationSketch("multilabel", 1).update_logits(
        torch.tensor([[gap]]), torch.tensor([[label]])
    )
    for sketch in (one, two, many, overlapping):
        assert sketch.nll() == pytest.approx(expected, rel=1e-14)
        assert sketch.clipped == 0


@pytest.mark.parametrize(("p", "label"), [(0.0, 1), (1.0, 0), (1e-9, 1)])
def test_saturated_probabilities_are_clipped_and_counted(p, label):
    values, labels = torch.tensor([p, 0.5]), torch.tensor([label, 1])
    both = torch.stack((1 - values, values), 1)
    binary = CalibrationSketch().update_probabilities(values, labels)
    multiclass = CalibrationSketch("multiclass", 2).update_probabilities(both, labels)
    for sketch in (binary, multiclass):
        assert sketch.nll() == pytest.approx((24 * math.log(2) + math.log(2)) / 2, rel=1e-12)
        assert sketch.clipped == 1


def test_two_channels_are_the_gap_of_one():
    logits, y = exclusive(2)
    two = CalibrationSketch().update_logits(logits, y)
    one = CalibrationSketch().update_logits(logits[:, 1:] - logits[:, :1], y)
    assert two == one
    p = logits.softmax(1)
    from_p = CalibrationSketch().update_probabilities(p, y)
    assert from_p == CalibrationSketch().update_probabilities(p[:, 1:], y)
    as_labels = CalibrationSketch().update_probabilities(p[:, 1], y)  # one image, not two
    np.testing.assert_array_equal(from_p.lens().counts, as_labels.lens().counts)
    assert from_p.nll() == pytest.approx(as_labels.nll(), rel=1e-14)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_multiclass_scores(dtype):
    logits, y = exclusive(4, dtype=dtype)
    p = logits.softmax(1)
    sketch = CalibrationSketch("multiclass", 4).update_probabilities(p, y)
    rows, truth = by_voxel(p.double()).numpy(), y.flatten().numpy()
    assert sketch.voxels == truth.size
    one_hot = np.eye(4)[truth]
    squares = np.square(rows - one_hot).mean(0)
    assert sketch.brier() == pytest.approx(squares[1:].mean(), abs=1e-12)
    assert sketch.brier("sum") == pytest.approx(squares.sum(), abs=1e-12)
    each = [definitions.ece(rows[:, c], truth == c, 15) for c in range(4)]
    assert sketch.ece() == pytest.approx(np.mean(each[1:]), abs=1e-12)
    assert sketch.class_wise_ece() == pytest.approx(np.mean(each), abs=1e-12)
    assert sketch.per_class(scores.ece) == pytest.approx(dict(enumerate(each[1:], 1)), abs=1e-12)
    assert sketch.nll() == pytest.approx(-np.log(rows[range(truth.size), truth]).mean(), rel=1e-7)


def test_multiclass_nll_is_scikit_learns():
    logits, y = exclusive(5)
    rows = by_voxel(logits.softmax(1)).clamp_min(1e-6).numpy()
    rows /= rows.sum(1, keepdims=True)
    sketch = CalibrationSketch("multiclass", 5).update_probabilities(rows, y.flatten())
    expected = log_loss(y.flatten(), rows, labels=range(5))
    assert sketch.nll() == pytest.approx(expected, rel=1e-12)


def test_nll_at_other_temperatures():
    logits, y = exclusive(4)
    sketch = CalibrationSketch("multiclass", 4).update_logits(logits, y)
    for rung, total in zip(INVERSE_TEMPERATURES, sketch.ladder, strict=True):
        exact = torch.nn.functional.cross_entropy(logits * rung, y, reduction="sum")
        assert total == pytest.approx(exact.item(), rel=1e-6)


def test_multilabel_scores():
    p = torch.rand(2, 3, 7, 5, dtype=torch.float64)
    y = torch.rand(2, 3, 7, 5) < p
    sketch = CalibrationSketch("multilabel", 3).update_probabilities(p, y)
    rows, truth = by_voxel(p).numpy(), by_voxel(y).numpy()
    each = {c: definitions.ece(rows[:, c], truth[:, c], 15) for c in range(3)}
    assert sketch.voxels == 70
    assert sketch.per_class(scores.ece) == pytest.approx(each, abs=1e-12)
    assert sketch.ece() == pytest.approx(np.mean(list(each.values())), abs=1e-12)
    assert sketch.class_wise_ece() == pytest.approx(sketch.ece())
    assert sketch.nll() == pytest.approx(log_loss(truth.ravel(), rows.ravel()), rel=1e-12)
    squares = np.square(rows - truth)
    assert sketch.brier() == pytest.approx(squares.mean(), abs=1e-13)
    assert sketch.brier("sum") == pytest.approx(squares.sum(1).mean(), abs=1e-13)


def test_multilabel_logits():
    z = torch.randn(2, 3, 8, dtype=torch.float64) * 4
    y = torch.rand(2, 3, 8) < 0.3
    sketch = CalibrationSketch("multilabel", 3).update_logits(z, y)
    exact = torch.nn.functional.binary_cross_entropy_with_logits(z, y.double())
    assert sketch.nll() == pytest.approx(exact.item(), rel=1e-13)
    for c in range(3):
        alone = CalibrationSketch().update_logits(z[:, c], y[:, c])
        np.testing.assert_array_equal(sketch.lens(c).counts, alone.lens().counts)


def test_class_wise_of_two_classes_is_the_mean_of_both():
    p, y = definitions.segmentation(500, dtype=np.float64)
    sketch = CalibrationSketch().update_probabilities(p, y)
    background = definitions.ece(1 - p, ~y, 15)
    expected = (background + definitions.ece(p, y, 15)) / 2
    assert sketch.class_wise_ece() == pytest.approx(expected, abs=1e-12)


def test_a_class_that_never_occurs_is_left_out_of_ranks():
    p = torch.rand(1, 3, 50, dtype=torch.float64).softmax(1)
    y = torch.arange(50).remainder(2)[None]
    sketch = CalibrationSketch("multiclass", 3).update_probabilities(p, y)
    only = CalibrationSketch().update_probabilities(p[:, 1], y == 1)
    assert sketch.auroc() == only.auroc()
    assert sketch.auroc().error == only.auroc().error


def test_a_bound_survives_a_pickle():
    number = pickle.loads(pickle.dumps(Bounded(0.5, 0.25)))
    assert (number, number.error, repr(number)) == (0.5, 0.25, "0.5 (± 0.2)")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("ternary",), "kind: expected one of binary, multiclass, multilabel, got 'ternary'"),
        (("multiclass",), "classes: a multiclass sketch expects a number from 2 on, got None"),
        (("multiclass", 1), "classes: a multiclass sketch expects a number from 2 on, got 1"),
        (("multilabel", 0), "classes: a multilabel sketch expects a number from 1 on, got 0"),
        (("binary", 3), "classes: a binary sketch expects 2 or nothing, got 3"),
        (("binary", None, 15), "resolution: expected an even number of at least 128 bins, got 15"),
    ],
)
def test_bad_constructions(arguments, text):
    with pytest.raises(ValueError, match=text):
        CalibrationSketch(*arguments)
