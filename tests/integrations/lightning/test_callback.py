"""The Lightning callback: its numbers against the sketch, its contract, its hooks."""

import importlib
import sys

import pytest
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from monai.networks import one_hot

from gradsurge.integrations.lightning import CalibrationCallback
from tests.integrations.batches import KINDS, batches, probabilities, whole
from tests.integrations.lightning.tasks import QUIET, WARNINGS, Task, loader, trainer

pytestmark = WARNINGS


def callback_of(kind, given="logits", **options):
    return CalibrationCallback(given, kind, KINDS[kind], **options)


@pytest.mark.parametrize("kind", KINDS)
def test_validation_reports_the_sketchs_scores(kind, tmp_path):
    callback, sketch = callback_of(kind, bins=20), whole(kind)
    (found,) = trainer(tmp_path, callback).validate(Task(), loader(kind), verbose=False)
    assert found == {
        "val_nll": pytest.approx(sketch.nll(), rel=1e-6),
        "val_ece": pytest.approx(sketch.ece(20), rel=1e-6),
        "val_brier": pytest.approx(sketch.brier(), rel=1e-6),
        "val_dice": pytest.approx(sketch.dice_at(0.5), rel=1e-6),
    }
    assert callback.sketches[0].voxels == sketch.voxels


def test_test_has_its_own_names(tmp_path):
    callback = callback_of("binary", names="{stage}/{score}", scores=["nll", "auroc"])
    (found,) = trainer(tmp_path, callback).test(Task(), loader("binary"), verbose=False)
    assert found == {
        "test/nll": pytest.approx(whole("binary").nll(), rel=1e-6),
        "test/auroc": pytest.approx(whole("binary").auroc(), rel=1e-6),
    }


def test_fitting_reports_each_epoch_and_leaves_sanity_checks_out(tmp_path):
    callback = callback_of("binary")
    checkpoint = ModelCheckpoint(tmp_path, monitor="val_nll", filename="best")
    fit = trainer(tmp_path, callback, max_epochs=2, enable_checkpointing=True)
    fit.callbacks.append(checkpoint)
    seen = []
    task = Task()
    task.on_validation_epoch_end = lambda: seen.append(
        (fit.sanity_checking, callback._counting[0].voxels, fit.callback_metrics.get("val_nll"))
    )
    fit.fit(task, loader("binary"), loader("binary"))
    expected = whole("binary")
    assert [row[:2] for row in seen] == [
        (True, 0),
        (False, expected.voxels),
        (False, expected.voxels),
    ]
    assert seen[0][2] is None
    assert fit.callback_metrics["val_nll"].item() == pytest.approx(expected.nll(), rel=1e-6)
    assert checkpoint.best_model_score.item() == pytest.approx(expected.nll(), rel=1e-6)


def test_several_loaders_are_reported_one_by_one(tmp_path):
    callback = callback_of("multiclass", scores=["nll"])
    loaders = [loader("multiclass"), loader("multiclass", number=1)]
    run = trainer(tmp_path, callback)
    run.validate(Task(), loaders, verbose=False)
    found = run.callback_metrics
    for loader_index, number in enumerate((3, 1)):
        expected = whole("multiclass", number).nll()
        assert callback.sketches[loader_index].nll() == pytest.approx(expected, rel=1e-12)
        logged = found[f"val_nll/dataloader_idx_{loader_index}"].item()
        assert logged == pytest.approx(expected, rel=1e-6)


class Named(Task):
    """Returns probabilities, one-hot labels and a mask, under names of its own."""

    def validation_step(self, batch, batch_idx):
        logits, target = batch
        return {
            "p": probabilities("multiclass", logits),
            "y": one_hot(target[:, None], 3),
            "inside": target != 1,
            "loss": logits.mean(),
        }


def test_names_probabilities_one_hot_labels_and_masks(tmp_path):
    callback = callback_of("multiclass", "probabilities", prediction="p", target="y", mask="inside")
    trainer(tmp_path, callback).validate(Named(), loader("multiclass"), verbose=False)
    counts = sum(int((y != 1).sum()) for _, y in batches("multiclass"))
    assert callback.sketches[0].voxels == counts
    assert callback.sketches[0].lens(1).positives == 0


class Loss(Task):
    def validation_step(self, batch, batch_idx):
        return self.weight


class Mislabelled(Task):
    def validation_step(self, batch, batch_idx):
        return {"logits": batch[0], "label": batch[1]}


@pytest.mark.parametrize(
    ("task", "came"),
    [(Loss, "got Parameter;"), (Mislabelled, r"got one with \['label', 'logits'\];")],
)
def test_another_return_value_is_named(task, came, tmp_path):
    text = rf"{task.__name__}.validation_step must return a dictionary with 'logits' and 'target'"
    with pytest.raises(ValueError, match=rf"{text}, {came}"):
        trainer(tmp_path, callback_of("binary")).validate(task(), loader("binary"), verbose=False)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"input": "auto"}, "input: expected 'logits' or 'probabilities', got 'auto'"),
        ({"input": "logits", "kind": "ternary"}, "kind: expected one of"),
        ({"input": "logits", "bins": 11}, "bins: expected a divisor of 25200, got 11"),
        ({"input": "logits", "scores": ["eze"]}, "scores: expected some of nll, .*, got eze"),
        ({"input": "logits", "names": "calibration"}, "names: expected a text with {stage} and"),
        ({"input": "logits", "names": "{stage}_{metric}"}, "names: expected a text with {stage}"),
        ({"input": "logits", "diagram_every": -1}, "diagram_every: expected a whole number from"),
    ],
)
def test_bad_constructions(arguments, text):
    with pytest.raises(ValueError, match=text):
        CalibrationCallback(**arguments)


def test_in_the_package_of_the_old_name(tmp_path):
    """`pytorch_lightning` has classes of its own; its trainer takes the callback all the same."""
    old = importlib.import_module("pytorch_lightning")
    module = type("Old", (old.LightningModule,), dict(Task.__dict__) | {"__init__": _init_old})
    callback = callback_of("binary")
    options = {**QUIET, "logger": False, "default_root_dir": tmp_path}
    fit = old.Trainer(callbacks=[callback], **options)
    (found,) = fit.validate(module(), loader("binary"), verbose=False)
    assert found["val_nll"] == pytest.approx(whole("binary").nll(), rel=1e-6)


def _init_old(self):
    super(type(self), self).__init__()
    self.weight = torch.nn.Parameter(torch.zeros(()))


def test_without_lightning_it_says_what_to_do(monkeypatch):
    for name in ("lightning.pytorch", "pytorch_lightning"):
        monkeypatch.setitem(sys.modules, name, None)
    name = "gradsurge.integrations.lightning.package"
    monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ImportError, match=r"pip install 'gradsurge\[lightning\]'"):
        importlib.import_module(name)
