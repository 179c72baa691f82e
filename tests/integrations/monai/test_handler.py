"""Calibration in the metrics of MONAI's engines, whatever the post-processing does."""

import numpy as np
import pytest
import torch
from ignite.engine import Engine
from monai.handlers import CheckpointSaver, MeanDice, from_engine
from monai.transforms import Activationsd, AsDiscreted, Compose, CopyItemsd
from sklearn.metrics import brier_score_loss, log_loss

from gradsurge.calibration import CalibrationSketch, fit_recalibration
from gradsurge.integrations.monai import CalibrationHandler, Recalibrated, SurgeryDiceLoss
from gradsurge.integrations.monai import handler as handlers
from tests.integrations.monai.engines import (
    CASES,
    SIDE,
    evaluator,
    logits_and_labels,
    network,
    trainer,
)

TO_MASKS = Compose(
    [
        Activationsd(keys="pred", softmax=True),
        AsDiscreted(keys="pred", argmax=True, to_onehot=2),
        AsDiscreted(keys="label", to_onehot=2),
    ]
)


def test_logits_are_counted_before_postprocessing():
    net = network()
    engine = evaluator(
        net,
        postprocessing=TO_MASKS,
        key_val_metric={"dice": MeanDice(False, output_transform=from_engine(["pred", "label"]))},
        additional_metrics={"val": CalibrationHandler("logits")},
    )
    engine.run()
    z, y = logits_and_labels(net)
    p, labels = z.double().softmax(1)[:, 1].flatten().numpy(), y.flatten().numpy()
    found = engine.state.metrics
    assert found["val_nll"] == found["val"] == pytest.approx(log_loss(labels, p), rel=1e-6)
    assert found["val_brier"] == pytest.approx(brier_score_loss(labels, p), rel=1e-6)
    assert set(found) == {"dice", "val", "val_nll", "val_ece", "val_brier", "val_dice"}
    assert all(isinstance(value, float) for value in found.values())


def test_probabilities_are_counted_after_postprocessing():
    """A temperature found on the validation cases lowers their own NLL."""
    net = network()
    for layer in net[::2]:
        torch.nn.init.normal_(layer.weight, std=3.0)  # far too sure
    z, y = logits_and_labels(net)
    sketch = CalibrationSketch().update_logits(z, y)
    temperature = fit_recalibration("temperature", sketch)
    raw, mended = CalibrationHandler("logits"), CalibrationHandler("probabilities")
    engine = evaluator(
        net,
        postprocessing=Recalibrated("pred", temperature, "logits"),
        key_val_metric={"raw": raw},
        additional_metrics={"mended": mended},
    )
    engine.run()
    found = engine.state.metrics
    assert found["raw_nll"] == pytest.approx(sketch.nll(), rel=1e-6)
    expected = temperature.apply_logits(z, 1)
    after = CalibrationSketch().update_probabilities(expected, y)
    assert found["mended_nll"] == pytest.approx(after.nll(), rel=1e-6)
    assert found["mended_nll"] < found["raw_nll"]
    assert raw.sketch.voxels == CASES * SIDE * SIDE


def test_masks_in_place_of_probabilities_are_noticed():
    engine = evaluator(
        network(),
        postprocessing=TO_MASKS,
        key_val_metric={"val": CalibrationHandler("probabilities")},
    )
    with pytest.warns(UserWarning, match=r"0 or 1. Has AsDiscreted made masks of them\?"):
        engine.run()


def test_probabilities_under_a_key_of_their_own():
    keep = Compose(
        [Activationsd(keys="pred", softmax=True), CopyItemsd("pred", names="prob"), TO_MASKS]
    )
    handler = CalibrationHandler(
        "probabilities", output_transform=from_engine(["prob", "label"]), scores=["auroc"]
    )
    net = network()
    engine = evaluator(net, postprocessing=keep, key_val_metric={"val": handler})
    engine.run()
    z, y = logits_and_labels(net)
    expected = CalibrationSketch().update_logits(z, y).auroc()
    assert engine.state.metrics == {
        "val": pytest.approx(expected, rel=1e-6),
        "val_auroc": pytest.approx(expected, rel=1e-6),
    }


@pytest.mark.parametrize("classes", [2, 3])
def test_in_a_trainer(classes):
    """A surgery loss trains, and the handler of the trainer sees it get better."""
    net = network(classes)
    loss = SurgeryDiceLoss(to_onehot_y=True, softmax=True)
    kind = ("binary", None) if classes == 2 else ("multiclass", 3)
    engine = trainer(
        net,
        loss,
        classes,
        epochs=12,
        key_train_metric={"train": CalibrationHandler("logits", *kind)},
        metric_cmp_fn=lambda new, best: new < best,
    )
    z, y = logits_and_labels(net, classes)
    before = torch.nn.functional.cross_entropy(z, y[:, 0]).item()
    engine.run()
    assert engine.state.metrics["train_nll"] < before
    assert engine.state.best_metric == engine.state.metrics["train"]  # the last epoch was the best
    assert loss.equilibrium_shift().shape == (classes,)


def test_monais_saver_keeps_the_lowest_nll_if_told_the_sign(tmp_path):
    net = network()
    saver = CheckpointSaver(
        str(tmp_path), {"net": net}, save_key_metric=True, key_metric_negative_sign=True
    )
    engine = evaluator(
        net,
        key_val_metric={"val": CalibrationHandler("logits")},
        val_handlers=[saver],
        metric_cmp_fn=lambda new, best: new < best,
    )
    seen = []
    for factor in (0.5, 3.0, 0.5):
        with torch.no_grad():
            net[2].weight.mul_(factor)
        engine.run()
        seen.append(engine.state.metrics["val_nll"])
    assert min(seen) == seen[1] == engine.state.best_metric
    (kept,) = tmp_path.iterdir()
    assert kept.name == f"net_key_metric=-{seen[1]:.4f}.pt"


def test_without_ignite_it_says_what_to_do(monkeypatch):
    monkeypatch.setattr(handlers, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"pip install 'gradsurge\[monai\]'"):
        CalibrationHandler("logits")


def test_each_epoch_starts_anew():
    handler = CalibrationHandler("logits")
    engine = evaluator(network(), key_val_metric={"val": handler})
    engine.run()
    first = dict(engine.state.metrics)
    engine.run()
    assert engine.state.metrics == first
    assert handler.sketch.voxels == CASES * SIDE * SIDE


def test_in_an_engine_of_ignite():
    z, y = logits_and_labels(network())
    engine = Engine(lambda engine, rows: {"pred": z[rows], "label": y[rows]})
    handler = CalibrationHandler("logits")
    handler.attach(engine, "val")
    engine.run([slice(0, 2), slice(2, 5)])
    sketch = CalibrationSketch().update_logits(z, y)
    assert engine.state.metrics["val_ece"] == pytest.approx(sketch.ece(), rel=1e-9)
    np.testing.assert_array_equal(handler.sketch.lens().counts, sketch.lens().counts)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"input": "auto"}, "input: expected 'logits' or 'probabilities', got 'auto'"),
        ({"input": "logits", "kind": "ternary"}, "kind: expected one of"),
        ({"input": "logits", "bins": 11}, "bins: expected a divisor of 25200, got 11"),
        ({"input": "logits", "scores": ["eze"]}, "scores: expected some of nll, .*, got eze"),
        ({"input": "logits", "scores": []}, "scores: expected some of nll, .*, got none"),
    ],
)
def test_bad_constructions(arguments, text):
    with pytest.raises(ValueError, match=text):
        CalibrationHandler(**arguments)
