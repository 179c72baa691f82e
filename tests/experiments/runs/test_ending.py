"""What is measured at the end, against scikit-learn and closed forms."""

import math

import numpy as np
import pytest
import torch
from scipy.special import expit, logit
from sklearn.metrics import f1_score, log_loss
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
    assert len(found.outcome.theory_thresholds) == 2


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
    assert found.outcome.theory_thresholds is None
    assert "equilibrium" not in found.outcome.scores
    assert found.outcome.correction == "none"


def test_masks_take_the_threshold_where_it_raises_the_dice_of_the_cases(tmp_path):
    store = disc_store(tmp_path)
    model = Brightness(2)
    outcome = end_of(store, model, make_loss("ce")).outcome
    (threshold,) = outcome.scores["none"].thresholds

    def dice(t):
        found = []
        for name in store.split("validation"):
            z, y = logits_by_hand(store, name, model), store.case(name).read_label()
            found.append(f1_score(y.ravel() == 1, (1 / (1 + np.exp(z[0] - z[1])) > t).ravel()))
        return np.mean(found)

    at_half, at_threshold = dice(0.5), dice(threshold)
    assert at_threshold > at_half + 0.01  # else there is nothing to see here
    assert outcome.threshold_dice == pytest.approx(at_threshold)
    assert outcome.mask_dice == pytest.approx(at_threshold)
    assert outcome.mask_thresholds == (threshold,)


@pytest.mark.parametrize(("wrong", "chosen"), [(1.0, "equilibrium"), (-1.0, "none")])
def test_the_correction_is_chosen_where_it_undoes_what_is_there(tmp_path, wrong, chosen):
    """Logits shifted by b on top of a fitted model: subtracting b helps; with -b it harms."""
    store = disc_store(tmp_path)
    loss = trained("dice-surgery", 2)
    b = float(loss.equilibrium_shift()[1])
    assert b > 0.5
    plain = Brightness(2)
    bias, slope = logistic_fit(*voxels(store, plain))
    outcome = end_of(store, Shifted(slope, bias + wrong * b), loss).outcome
    assert outcome.correction == chosen


class Shifted(nn.Module):
    """A voxel-wise logistic model."""

    divisor = (1, 1)

    def __init__(self, slope, bias):
        super().__init__()
        self.slope, self.bias = slope, bias

    def forward(self, x):
        return torch.cat((torch.zeros_like(x), x * self.slope + self.bias), dim=1)


def logistic_fit(z, y):
    from sklearn.linear_model import LogisticRegression

    image = (z[1] - z[0]).numpy()[:, None] / 3.0  # the slopes of Brightness(2) are -1 and 2
    fitted = LogisticRegression(C=1e6).fit(image, y)
    return float(fitted.intercept_[0]), float(fitted.coef_[0, 0])


def test_the_theory_finds_the_threshold_of_a_shifted_posterior(tmp_path):
    """A calibrated model plus the shift that the loss measured: its best cut is where theory says.

    With cross-entropy in the loss that is not 1/2.
    """
    store = disc_store(tmp_path, cases=60)
    loss = trained("ce+dice-surgery", 2)
    b = float(loss.equilibrium_shift()[1])
    bias, slope = logistic_fit(*voxels(store, Brightness(2)))
    outcome = end_of(store, Shifted(slope, bias + b), loss).outcome
    (theory,), (measured,) = outcome.theory_thresholds, outcome.scores["none"].thresholds
    best = outcome.scores["none"].best_dice
    assert theory == pytest.approx(expit(logit(best / 2) + b))
    assert theory == pytest.approx(measured, abs=0.08)
    assert abs(theory - 0.5) > 0.02


def test_of_several_classes_there_is_no_theory_of_one_threshold(tmp_path):
    store = disc_store(tmp_path, classes=2)
    outcome = end_of(store, Brightness(3), trained("dice-surgery", 3)).outcome
    assert "equilibrium" in outcome.scores
    assert outcome.theory_thresholds is None


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
