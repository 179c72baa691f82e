"""The closed form on held-out patches, against what can be computed by hand."""

import math
import shutil

import numpy as np
import pytest
import torch
from torch import nn

from gradsurge.experiments.held_out_shift import main, measure_balance
from gradsurge.experiments.runs import RunRequest, TrainedRun, open_run, plan_run, train_run
from tests.experiments.runs.stores import disc_store

WHOLE = {"patch": (24, 24), "patches": {"batch": 1}, "augmentation": "none"}
STEPS = {"steps": 2, "validate_every": 2, "checkpoint_every": 2, "optimiser": "adamw"}


class Always(nn.Module):
    """The same probabilities everywhere."""

    def __init__(self, *p):
        super().__init__()
        self.logits = torch.tensor(p, dtype=torch.float64).log().float()

    def forward(self, image):
        shape = (len(image), len(self.logits), *image.shape[2:])
        return self.logits.view(1, -1, 1, 1).expand(shape).clone()


def trained(folder, loss="dice-surgery", **store):
    cases = disc_store(folder, **store)
    train_run(plan_run(cases, RunRequest(loss, **WHOLE, training=STEPS)), folder / "run")
    return open_run(folder / "run"), cases


def labels_of(store, split):
    return np.stack([store.case(name).read_label() for name in store.split(split)])


def shift_by_hand(labels, p):
    """Dice of a case: I = p Y and S = P + Y; voxels of a label in the same doubt count alike."""
    lesion, rest = ((labels == value).sum((1, 2)).astype(float) for value in (1, 0))
    both, sums = p * lesion, p * (lesion + rest) + lesion
    pull = (lesion * (2 / sums - 2 * both / sums**2)).sum() / lesion.sum()
    push = (rest * 2 * both / sums**2).sum() / rest.sum()
    return math.log(pull / push)


@pytest.fixture(scope="module")
def surgery(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("surgery"))


@pytest.mark.parametrize("split", ["train", "validation"])
@pytest.mark.parametrize("ignore", [False, True])
def test_a_network_of_one_probability_by_hand(surgery, split, ignore, monkeypatch, tmp_path):
    (run, store), p = trained(tmp_path, ignore=True) if ignore else surgery, 0.2
    monkeypatch.setattr(TrainedRun, "model", lambda _: Always(1 - p, p))
    labels = labels_of(store, split)
    assert (labels == 2).any() == ignore
    found = measure_balance(run, store, split, steps=2 * len(labels))  # a patch is a whole case
    assert found.foreseen == pytest.approx(shift_by_hand(labels, p), abs=1e-4)
    right = math.log(p * (labels == 0).sum() / ((1 - p) * (labels == 1).sum()))
    assert found.found == pytest.approx(right, abs=1e-5)


def test_structures_are_held_against_background_one_by_one(tmp_path, monkeypatch):
    run, store = trained(tmp_path, classes=2)
    p = 0.5, 0.2, 0.3
    monkeypatch.setattr(TrainedRun, "model", lambda _: Always(*p))
    count = np.bincount(labels_of(store, "train").ravel())
    found = measure_balance(run, store, "train", steps=3)
    right = [math.log(p[c] * count[0] / (p[0] * count[c])) for c in (1, 2)]
    assert found.found == pytest.approx(sum(right) / 2, abs=1e-5)


@pytest.mark.parametrize("moved", [False, True])
def test_the_command_prints_all_of_it(surgery, capsys, moved, tmp_path):
    run, store = surgery
    words = [str(run.folder), "--steps", "3"]
    if moved:
        shutil.copytree(run.config.store, tmp_path / "elsewhere")
        words += ["--store", str(tmp_path / "elsewhere")]
    main(words)
    told = capsys.readouterr().out
    assert told.startswith("dice-surgery, seed 0: closed form ")
    numbers = [word for word in told.replace(",", " ").replace(";", " ").split() if word[0] in "+-"]
    # Of two classes the closed form is one number, the bias is another.
    half = torch.zeros(1, 2, 1)
    odds = [run.corrections[c].apply_logits(half, channel_axis=1) for c in ("equilibrium", "bias")]
    old, new = (measure_balance(run, store, split, steps=3) for split in ("train", "validation"))
    expected = [math.log(p[0, 0, 0] / p[0, 1, 0]) for p in odds]
    expected += [old.foreseen, new.foreseen, old.found, new.found]
    assert [float(n) for n in numbers] == pytest.approx(expected, abs=0.006)


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
        measure_balance(run, cases, "train", steps=1)


@pytest.mark.parametrize("p", [(1.0, 0.0), (0.0, 1.0)])
def test_a_network_that_makes_one_kind_of_error_is_told(surgery, monkeypatch, p):
    run, store = surgery
    monkeypatch.setattr(TrainedRun, "model", lambda _: Always(*p))
    with pytest.raises(ValueError, match="no false alarms or no misses"):
        measure_balance(run, store, "train", steps=1)
