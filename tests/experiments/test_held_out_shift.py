"""The closed form on held-out patches, against what can be computed by hand."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from gradsurge.experiments.held_out_shift import main, measure_rest
from gradsurge.experiments.runs import RunRequest, TrainedRun, open_run, plan_run, train_run
from tests.experiments.runs.stores import disc_store

WHOLE = {"patch": (24, 24), "patches": {"batch": 1}, "augmentation": "none"}
STEPS = {"steps": 2, "validate_every": 2, "checkpoint_every": 2, "optimiser": "adamw"}


class SureOf(nn.Module):
    """The same probability of foreground everywhere."""

    def __init__(self, p):
        super().__init__()
        self.logit = math.log(p / (1 - p))

    def forward(self, image):
        foreground = torch.full_like(image, self.logit)
        return torch.cat((torch.zeros_like(image), foreground), dim=1)


def trained(folder, loss, **store):
    cases = disc_store(folder, **store)
    train_run(plan_run(cases, RunRequest(loss, **WHOLE, training=STEPS)), folder / "run")
    return open_run(folder / "run"), cases


@pytest.fixture(scope="module")
def surgery(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("surgery"), "dice-surgery")


@pytest.mark.parametrize("split", ["train", "validation"])
def test_a_network_of_one_probability_by_hand(surgery, split, monkeypatch):
    (run, store), p = surgery, 0.2
    monkeypatch.setattr(TrainedRun, "model", lambda _: SureOf(p))
    labels = [store.case(name).read_label() > 0 for name in store.split(split)]
    lesion = np.array([y.sum() for y in labels], float)
    rest = np.array([(~y).sum() for y in labels], float)
    # Every patch is a whole case. Dice of a case: I = p Y and S = P + Y; voxels of a label in the
    # same doubt all count alike.
    both, sums = p * lesion, p * (lesion + rest) + lesion
    pull = (lesion * (2 / sums - 2 * both / sums**2)).sum() / lesion.sum()
    push = (rest * 2 * both / sums**2).sum() / rest.sum()
    found = measure_rest(run, store, split, steps=2 * len(labels))
    assert found.shift == pytest.approx(math.log(pull / push), abs=1e-3)
    right = math.log(p * rest.sum() / ((1 - p) * lesion.sum()))
    assert found.balance == pytest.approx(right, abs=1e-5)


def test_voxels_to_be_ignored_are_not_counted(tmp_path, monkeypatch):
    run, store = trained(tmp_path, "dice-surgery", ignore=True)
    monkeypatch.setattr(TrainedRun, "model", lambda _: SureOf(0.3))
    labels = np.stack([store.case(name).read_label() for name in store.split("train")])
    assert (labels == 2).any()
    found = measure_rest(run, store, "train", steps=len(labels))
    right = math.log(0.3 * (labels == 0).sum() / (0.7 * (labels == 1).sum()))
    assert found.balance == pytest.approx(right, abs=1e-5)


def test_the_command_prints_all_of_it(surgery, capsys):
    run, store = surgery
    main([str(run.folder), "--steps", "3"])
    told = capsys.readouterr().out
    assert told.startswith("dice-surgery, seed 0: closed form ")
    numbers = [word for word in told.replace(",", " ").replace(";", " ").split() if word[0] in "+-"]
    here = measure_rest(run, store, "train", steps=3)
    new = measure_rest(run, store, "validation", steps=3)
    expected = [here.shift, new.shift, here.balance, new.balance]
    assert [float(n) for n in numbers[2:]] == pytest.approx(expected, abs=0.006)


@pytest.mark.parametrize(
    ("loss", "store", "why"),
    [
        ("dice", {}, "give a run with surgery"),
        ("dice-surgery", {"classes": 2, "regions": True}, "overlap"),
    ],
)
def test_what_has_no_such_rest_is_refused(tmp_path, loss, store, why):
    run, cases = trained(tmp_path, loss, **store)
    with pytest.raises(ValueError, match=why):
        measure_rest(run, cases, "train", steps=1)


def test_a_network_that_is_never_in_doubt_is_told(surgery, monkeypatch):
    run, store = surgery
    monkeypatch.setattr(TrainedRun, "model", lambda _: SureOf(1e-300))
    with pytest.raises(ValueError, match="doubt"):
        measure_rest(run, store, "train", steps=1)
