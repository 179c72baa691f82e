"""What is measured at the end, against scikit-learn and closed forms."""

import math

import numpy as np
import pytest
import torch
from sklearn.metrics import log_loss
from torch import nn

from gradsurge.calibration import posterior_from_equilibrium
from gradsurge.experiments.runs.corrections import default_correction, equilibrium_of, has_surgery
from gradsurge.experiments.runs.ending import FinalValidation
from gradsurge.experiments.runs.ending_files import write_ending
from gradsurge.experiments.runs.outcome import number, read_outcome
from gradsurge.experiments.runs.task import task_of
from gradsurge.experiments.runs.whole_cases import WholeCases
from gradsurge.losses import DeepSupervision, make_loss
from tests.experiments.runs.stores import disc_store
from tests.experiments.runs.test_validation import Brightness, logits_by_hand


def trained(name, channels, **options):
    """A loss that has seen one batch."""
    loss = make_loss(name, **options)
    logits = torch.randn(1, channels, 16, 16, requires_grad=True)
    label = torch.randint(0, channels, (1, 16, 16))
    if options.get("activation") == "sigmoid":
        label = torch.randint(0, 2, logits.shape)
    loss(logits, label).backward()
    return loss


def end_of(store, model, loss):
    cases = WholeCases(store, (24, 24), torch.device("cpu"))
    names = store.split("validation")
    return FinalValidation(task_of(store.dataset), cases, names).run(model, loss, 5, 9)


def voxels(store, model):
    names = store.split("validation")
    z = np.concatenate([logits_by_hand(store, n, model).reshape(-1, 576) for n in names], axis=1)
    y = np.concatenate([store.case(n).read_label().ravel() for n in names])
    return torch.from_numpy(z).double(), y


@pytest.mark.parametrize("name", ["dice-surgery", "ce+dice-surgery"])
@pytest.mark.parametrize("classes", [1, 2])
def test_the_equilibrium_is_measured_voxel_by_voxel(tmp_path, classes, name):
    store = disc_store(tmp_path, classes=classes)
    model, loss = Brightness(classes + 1), trained(name, classes + 1)
    found = end_of(store, model, loss)
    z, y = voxels(store, model)
    raw = z.softmax(0)
    posterior = posterior_from_equilibrium(raw[None], *loss.equilibrium()[:3])[0]
    rows = found.outcome.scores
    assert rows["none"].nll == pytest.approx(log_loss(y, raw.T.numpy()), rel=1e-6)
    assert rows["equilibrium"].nll == pytest.approx(log_loss(y, posterior.T.numpy()), rel=1e-6)
    expected = "equilibrium" if rows["equilibrium"].nll < rows["none"].nll else "none"
    assert found.outcome.correction == expected
    assert found.outcome.theory_threshold == 0.5
    assert list(rows) == ["none", "equilibrium", "bias", "temperature"]


def test_overlapping_regions(tmp_path):
    store = disc_store(tmp_path, classes=2, regions=True)
    model, loss = Brightness(2), trained("dice-surgery", 2, activation="sigmoid")
    found = end_of(store, model, loss)
    z, y = voxels(store, model)
    inside = np.stack((y >= 1, y == 2))
    expected = np.mean([log_loss(inside[k], z.sigmoid().numpy()[k]) for k in range(2)])
    assert found.outcome.scores["none"].nll == pytest.approx(expected, rel=1e-6)
    assert found.corrections["equilibrium"].kind == "multilabel"
    assert len(found.outcome.scores["none"].thresholds) == 2


def test_thresholds_are_the_best_of_all(tmp_path):
    store = disc_store(tmp_path)
    model = Brightness(2)
    found = end_of(store, model, make_loss("ce"))
    z, y = voxels(store, model)
    p = (z[1] - z[0]).sigmoid().numpy()

    def dice(t):
        return 2 * ((p > t) & (y == 1)).sum() / ((p > t).sum() + (y == 1).sum())

    (threshold,) = found.outcome.scores["none"].thresholds
    best = max(dice(t) for t in p - 1e-9)
    assert dice(threshold) == pytest.approx(best, abs=1e-3)
    assert found.outcome.scores["none"].best_dice == pytest.approx(best, abs=1e-3)
    assert found.outcome.theory_threshold is None
    assert "equilibrium" not in found.outcome.scores
    assert found.outcome.correction == "none"
    assert found.outcome.mask_dice >= found.outcome.scores["none"].dice


def test_a_loss_that_measured_nothing_is_said(tmp_path):
    store = disc_store(tmp_path)
    found = end_of(store, Brightness(2), make_loss("dice-surgery"))
    assert "equilibrium" not in found.corrections
    assert any("nothing measured" in note for note in found.outcome.notes)


def test_a_class_that_never_occurred_is_said():
    loss = make_loss("dice-surgery")
    logits = torch.randn(1, 3, 8, 8, requires_grad=True)
    loss(logits, torch.randint(0, 2, (1, 8, 8))).backward()
    with pytest.warns(UserWarning, match="label"):
        found, note = equilibrium_of(loss)
    assert found is not None
    assert note is None


def test_surgery_is_found_below_deep_supervision():
    assert has_surgery(DeepSupervision(make_loss("ce+dice-surgery"), 2))
    assert not has_surgery(make_loss("ce+dice"))
    assert equilibrium_of(make_loss("ce+dice")) == (None, None)
    assert equilibrium_of(nn.Identity()) == (None, None)


def test_what_is_fitted_is_never_chosen():
    assert default_correction({"none": 0.3, "bias": 0.1, "temperature": 0.1}) == "none"
    assert default_correction({"none": 0.3, "equilibrium": 0.3}) == "none"


def test_the_outcome_is_kept(tmp_path):
    store = disc_store(tmp_path)
    ending = end_of(store, Brightness(2), trained("dice-surgery", 2))
    (tmp_path / "run").mkdir()
    write_ending(tmp_path / "run", ending)
    assert read_outcome(tmp_path / "run" / "outcome.json") == ending.outcome
    assert (tmp_path / "run" / "recalibration" / "equilibrium.json").exists()
    assert len(ending.sketch.cases.digests) == 2
    assert ending.sketch.cases.voxels == ending.sketch.voxels


@pytest.mark.parametrize("text", ["{}", "[]", "", '{"format": "gradsurge run outcome"}', "\0"])
def test_a_damaged_outcome_is_one_line(tmp_path, text):
    file = tmp_path / "outcome.json"
    file.write_text(text)
    with pytest.raises(ValueError, match="not the outcome of a run"):
        read_outcome(file)


def test_undefined_scores_are_null():
    assert number(math.nan) is None
    assert number(np.float64(0.5)) == 0.5
