"""The sketch as a TorchMetrics metric: against the sketch, and by the rules of TorchMetrics."""

import copy
import importlib
import pickle
import sys

import numpy as np
import pytest
import torch
from torch import nn
from torchmetrics import MetricCollection
from torchmetrics.classification import BinaryCalibrationError, MulticlassCalibrationError

from gradsurge.calibration import scores
from gradsurge.integrations.torchmetrics import CalibrationMetric
from tests.integrations.batches import KINDS, batches, probabilities, whole


def metric_of(kind, given="logits", **options):
    return CalibrationMetric(given, kind, KINDS[kind], **options)


def filled(kind, **options):
    metric = metric_of(kind, **options)
    for z, y in batches(kind):
        metric.update(z, y)
    return metric


def assert_holds(metric, sketch):
    found = metric.sketch
    for mine, other in zip(found.histograms, sketch.histograms, strict=True):
        np.testing.assert_array_equal(mine.counts, other.counts)
        np.testing.assert_allclose(mine.sums, other.sums, atol=1e-12)
    assert found.voxels == sketch.voxels
    assert found.nll() == pytest.approx(sketch.nll(), rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_the_sketchs(kind):
    metric, sketch = filled(kind, bins=20), whole(kind)
    assert_holds(metric, sketch)
    found = metric.compute()
    for name in ("nll", "brier", "auroc", "average_precision"):
        assert found[name].item() == pytest.approx(getattr(sketch, name)(), rel=1e-12)
    for name in ("ece", "ace", "mce", "equal_mass_ece"):
        assert found[name].item() == pytest.approx(getattr(sketch, name)(20), rel=1e-12)
    assert found["dice"].item() == sketch.dice_at(0.5)
    assert ("top_label_ece" in found) == (kind != "multilabel")
    assert all(value.dtype == torch.float64 and value.ndim == 0 for value in found.values())


def test_it_agrees_with_torchmetrics_own():
    p, y = torch.rand(500), torch.randint(0, 2, (500,))
    ours, theirs = CalibrationMetric("probabilities"), BinaryCalibrationError(n_bins=15)
    assert ours(p, y)["ece"].item() == pytest.approx(theirs(p, y).item(), abs=1e-6)
    rows, classes = torch.randn(500, 4).softmax(1), torch.randint(0, 4, (500,))
    ours = CalibrationMetric("probabilities", "multiclass", 4)
    theirs = MulticlassCalibrationError(4, n_bins=15)
    found = ours(rows, classes)["top_label_ece"].item()
    assert found == pytest.approx(theirs(rows, classes).item(), abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_forward_gives_the_batch_and_keeps_the_whole(kind):
    metric = metric_of(kind)
    for z, y in batches(kind):
        alone = metric_of(kind)
        alone.update(z, y)
        assert metric(z, y)["brier"] == alone.compute()["brier"]
    assert_holds(metric, whole(kind))
    metric.reset()
    assert metric.sketch.voxels == 0


def test_masks_and_probabilities():
    metric = metric_of("multiclass", "probabilities")
    z, y = next(batches("multiclass"))
    mask = torch.rand(2, 6, 5) < 0.5
    metric.update(probabilities("multiclass", z), y, mask=mask)
    assert metric.sketch.voxels == int(mask.sum())


def test_values_are_never_guessed():
    metric = CalibrationMetric("probabilities")
    with pytest.raises(ValueError, match="for logits there is update_logits"):
        metric.update(torch.tensor([0.5, 3.0]), torch.tensor([0, 1]))
    assert metric.sketch.voxels == 0
    logits = CalibrationMetric("logits")  # all of them could be probabilities
    logits.update(torch.tensor([0.25, 0.75]), torch.tensor([0, 1]))
    expected = torch.tensor([0.25, -0.75]).double().exp().log1p().mean()
    assert logits.compute()["nll"].item() == pytest.approx(expected.item(), rel=1e-12)


@pytest.mark.parametrize(
    "cast",
    [
        lambda m: m.half(),
        lambda m: m.float(),
        lambda m: m.double(),
        lambda m: m.bfloat16(),
        lambda m: m.to(torch.float16),
        lambda m: m.to("cpu", torch.bfloat16),
        lambda m: m.set_dtype(torch.float32),
        lambda m: nn.ModuleDict({"metric": m}).to(torch.float16)["metric"],
        lambda m: nn.ModuleDict({"metric": m}).half()["metric"],
    ],
)
def test_no_cast_touches_the_state(cast):
    metric = filled("binary")
    before = metric.sketch
    cast(metric)
    assert (metric.counts.dtype, metric.sums.dtype) == (torch.int64, torch.float64)
    assert metric.sketch == before
    metric.reset()
    assert (metric.counts.dtype, metric.sums.dtype) == (torch.int64, torch.float64)


def test_a_move_takes_the_state_along():
    metric = filled("binary").to("meta")
    assert metric.counts.device.type == metric.sums.device.type == metric.device.type == "meta"
    assert (metric.counts.dtype, metric.sums.dtype) == (torch.int64, torch.float64)


def test_copies_and_pickles():
    metric = filled("multiclass")
    for twin in (pickle.loads(pickle.dumps(metric)), copy.deepcopy(metric), metric.clone()):
        assert twin.sketch == metric.sketch
        twin.update(*next(batches("multiclass")))
        assert twin.sketch != metric.sketch


def test_checkpoints():
    metric = filled("binary")
    metric.persistent(True)
    twin = metric_of("binary")
    twin.load_state_dict(metric.state_dict())
    assert twin.sketch == metric.sketch


def test_merging_metrics():
    one, other = filled("multilabel"), filled("multilabel")
    one.merge_state(other)
    sketch = other.sketch
    assert one.sketch == sketch + sketch


def test_in_a_collection():
    metrics = MetricCollection(
        {
            "fine": CalibrationMetric("probabilities", bins=30),
            "coarse": CalibrationMetric("probabilities", bins=5),
            "theirs": BinaryCalibrationError(n_bins=30),
        }
    )
    p, y = torch.rand(2, 200), torch.randint(0, 2, (2, 200))
    for row in range(2):
        metrics.update(p[row], y[row])
    found = metrics.compute()
    assert found["fine_ece"].item() == pytest.approx(found["theirs"].item(), abs=1e-6)
    sketch = metrics["coarse"].sketch
    assert found["coarse_ece"].item() == scores.ece(sketch.lens(), 5)
    assert sketch.voxels == 400


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("auto",), "input: expected 'logits' or 'probabilities', got 'auto'"),
        (("logits", "ternary"), "kind: expected one of"),
        (("logits", "multiclass"), "classes: a multiclass sketch expects"),
        (("logits", "binary", None, 11), "bins: expected a divisor of 25200, got 11"),
    ],
)
def test_bad_constructions(arguments, text):
    with pytest.raises(ValueError, match=text):
        CalibrationMetric(*arguments)


def test_without_torchmetrics_it_says_what_to_do(monkeypatch):
    name = "gradsurge.integrations.torchmetrics"
    monkeypatch.setitem(sys.modules, "torchmetrics", None)
    monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ImportError, match=r"pip install 'gradsurge\[torchmetrics\]'"):
        importlib.import_module(name)
