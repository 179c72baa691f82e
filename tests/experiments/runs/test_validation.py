"""Scores while training, against scikit-learn and plain loops."""

import numpy as np
import pytest
import torch
from sklearn.metrics import brier_score_loss, f1_score, log_loss
from torch import nn

from gradsurge.experiments.runs.task import task_of
from gradsurge.experiments.runs.validation import Validation, validation_names
from gradsurge.experiments.runs.whole_cases import KeptLogits, WholeCases, evaluating
from tests.experiments.runs.stores import disc_store


class Brightness(nn.Module):
    """A voxel-wise model whose logits a test can compute by itself."""

    divisor = (1, 1)

    def __init__(self, channels):
        super().__init__()
        self.slopes = nn.Parameter(torch.linspace(-1, 2, channels))

    def forward(self, x):
        assert not self.training
        return x * self.slopes.view(1, -1, 1, 1)


def logits_by_hand(store, name, model):
    image = store.case(name).read_image()[0]
    return model.slopes.detach().numpy()[:, None, None] * image


@pytest.mark.parametrize("ignore", [False, True])
def test_binary_scores(tmp_path, ignore):
    store = disc_store(tmp_path, ignore=ignore)
    task, names = task_of(store.dataset), store.split("validation")
    model = Brightness(2).train()
    looks = []
    cases = WholeCases(store, (16, 16), torch.device("cpu"))
    found = Validation(task, cases, names, on_look=looks.append)(model, 7)
    assert model.training
    truth, p, dices = [], [], []
    for name in names:
        z, y = logits_by_hand(store, name, model), store.case(name).read_label()
        known = y <= 1
        assert known.all() != ignore
        foreground = 1 / (1 + np.exp(z[0] - z[1]))[known]
        dices.append(f1_score(y[known], foreground > 0.5))
        truth.append(y[known])
        p.append(foreground)
    truth, p = np.concatenate(truth), np.concatenate(p)
    assert found["dice"] == pytest.approx(np.mean(dices))
    assert found["nll"] == pytest.approx(log_loss(truth, p), rel=1e-5)
    assert found["brier"] == pytest.approx(brier_score_loss(truth, p), rel=1e-5)
    (look,) = looks
    assert (look.case, look.step, look.names) == (names[0], 7, ("disc",))
    assert np.array_equal(look.labels[0], store.case(names[0]).read_label() == 1)


def test_three_classes(tmp_path):
    store = disc_store(tmp_path, classes=2)
    task, names = task_of(store.dataset), store.split("validation")
    model = Brightness(3)
    found = Validation(task, WholeCases(store, (16, 16), torch.device("cpu")), names)(model, 1)
    truth, z, dices = [], [], {1: [], 2: []}
    for name in names:
        logits, y = logits_by_hand(store, name, model), store.case(name).read_label()
        truth.append(y.ravel())
        z.append(logits.reshape(3, -1))
        for c in (1, 2):
            dices[c].append(f1_score(y.ravel() == c, logits.argmax(0).ravel() == c))
    p = torch.from_numpy(np.concatenate(z, axis=1)).double().softmax(0).numpy()
    assert found["nll"] == pytest.approx(log_loss(np.concatenate(truth), p.T), rel=1e-5)
    assert found["dice/disc"] == pytest.approx(np.mean(dices[1]))
    assert found["dice/core"] == pytest.approx(np.mean(dices[2]))
    assert found["dice"] == pytest.approx(np.mean([*dices.values()]))


def test_logits_that_do_not_fit_are_computed_again(tmp_path):
    store = disc_store(tmp_path)
    model, names = Brightness(2).eval(), store.cases
    calls = []
    model.register_forward_hook(lambda *_: calls.append(1))
    cases = WholeCases(store, (24, 24), torch.device("cpu"))
    one = 2 * 24 * 24 * 4
    with evaluating(model):
        kept = KeptLogits(cases, model, names, room=2 * one)
        first = [logits for _, logits in kept]
        again = [logits for _, logits in kept]
    assert len(calls) == 6 + 4
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))


def test_the_cases_of_a_subset_have_foreground():
    shares = {"a": 0.0, "b": 0.1, "c": 0.0, "d": 0.3, "e": 0.2, "f": 0.1}
    assert set(validation_names(shares, 2)) <= {"b", "d", "e", "f"}
    assert len(set(validation_names(shares, 2))) == 2
    assert set(validation_names(shares, 5)) > {"b", "d"}
    assert validation_names(shares, None)[0] == "d"
    assert sorted(validation_names(shares, 99)) == sorted(shares)


def test_without_foreground_there_is_nothing_to_choose_by():
    with pytest.raises(ValueError, match="none of the 2 cases has foreground"):
        validation_names({"a": 0.0, "b": 0.0}, None)
