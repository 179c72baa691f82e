"""How strong the surgery of a run is: what is stored, and what older files mean that say nothing.

of_0_1_0/whole and of_0_1_0/broken were made by 0.1.0 at commit 1b8ecac: 16 steps of CE + Dice
surgery on eight phantoms, and the same stopped by SIGTERM after 8.
"""

import json
import shutil
from pathlib import Path

import pytest
import torch

from gradsurge.data.datasets.phantom_set import PhantomSet
from gradsurge.data.store import Store
from gradsurge.experiments.preparing import prepare
from gradsurge.experiments.runs import RunRequest, open_run, plan_run, train_run
from gradsurge.experiments.runs.run_loss import make_run_loss
from gradsurge.experiments.study.digests import trained_digest
from gradsurge.surgery import SurgeryRule
from gradsurge.training import read_checkpoint

FOLDER = Path(__file__).with_name("of_0_1_0")
MEANT = {"decline": 20.0, "scale": 0.25, "normalise": False, "weights": [0.5, 0.5]}
FOR_SGD = {"decline": None, "scale": 0.5, "normalise": True, "weights": [1.0, 1.0]}
TRAINING = {
    "steps": 16,
    "validate_every": 8,
    "checkpoint_every": 8,
    "optimiser": "sgd",
    "learning_rate": 0.05,
    "momentum": 0.9,
    "warmup": 0,
    "weight_decay": 3e-5,
}
SHORT = {**TRAINING, "steps": 2, "validate_every": 2, "checkpoint_every": 2}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store") / "store"
    prepare(PhantomSet("lesions-2d", 8, (32, 32)), Path(), folder)
    return Store.open(folder)


def plan(store, options=None, loss="ce+dice-surgery"):
    request = RunRequest(
        loss,
        options or {},
        model_options={"features": 4, "cap": 4, "resolution": "half"},
        patch=(16, 16),
        patches={"batch": 2},
        training=TRAINING,
    )
    return plan_run(store, request)


def weights(file):
    return torch.cat([w.flatten() for w in read_checkpoint(file).model.values()])


def stored(folder):
    return json.loads((folder / "config.json").read_text())["loss_options"]


def stopped_run(tmp_path):
    return shutil.copytree(FOLDER / "broken", tmp_path / "run")


@pytest.mark.parametrize("options", [{}, MEANT, {"paper": True}])
def test_a_stopped_one_goes_on_as_it_began(store, tmp_path, options):
    run = stopped_run(tmp_path)
    assert train_run(plan(store, options), run, resume=True, device="cpu").state == "finished"
    whole = weights(FOLDER / "whole/last.pt")
    assert not torch.allclose(whole, weights(FOLDER / "broken/last.pt"), atol=1e-2)
    # Other processors add in another order; with today's rule the weights differ by 0.1 and more.
    torch.testing.assert_close(weights(run / "last.pt"), whole, rtol=0, atol=1e-3)
    before = open_run(FOLDER / "whole").outcome.scores
    now = open_run(run).outcome.scores
    assert now["none"].nll == pytest.approx(before["none"].nll, abs=1e-3)
    assert now["equilibrium"].nll == pytest.approx(before["equilibrium"].nll, abs=1e-3)


def test_it_is_not_what_is_trained_today(store, tmp_path):
    train_run(plan(store), tmp_path / "run", device="cpu")
    today, whole = weights(tmp_path / "run/last.pt"), weights(FOLDER / "whole/last.pt")
    assert (today - whole).abs().max() > 0.1
    config = open_run(tmp_path / "run").config
    assert config.loss_options.keys() == MEANT.keys()
    assert stored(tmp_path / "run") == json.loads(json.dumps(dict(config.loss_options)))
    inside = read_checkpoint(tmp_path / "run/best.pt").config["loss_options"]
    assert json.loads(json.dumps(inside)) == stored(tmp_path / "run")


def test_the_papers_setting_by_name_is_what_it_was(store, tmp_path):
    train_run(plan(store, {"paper": True}), tmp_path / "run", device="cpu")
    assert stored(tmp_path / "run") == MEANT
    torch.testing.assert_close(
        weights(tmp_path / "run/last.pt"), weights(FOLDER / "whole/last.pt"), rtol=0, atol=1e-3
    )


@pytest.mark.parametrize("wish", [{"scale": 0.5}, {"decline": None}, {"normalise": True}])
def test_another_strength_is_refused_by_name(store, tmp_path, wish):
    run = stopped_run(tmp_path)
    with pytest.raises(ValueError, match=f"loss_options.{next(iter(wish))}"):
        train_run(plan(store, wish), run, resume=True, device="cpu")


def test_a_run_of_another_loss_is_refused(store, tmp_path):
    run = stopped_run(tmp_path)
    with pytest.raises(ValueError, match="ce\\+dice-surgery"):
        train_run(plan(store, loss="dice-surgery"), run, resume=True, device="cpu")


def test_a_finished_one_says_what_it_meant():
    config = open_run(FOLDER / "whole").config
    assert json.loads(json.dumps(dict(config.loss_options))) == MEANT


def test_its_digest_is_that_of_then():
    assert trained_digest(open_run(FOLDER / "whole").config, 16) == "533dddc9d089f335"


@pytest.mark.parametrize(("optimiser", "strength"), [("sgd", FOR_SGD), ("adamw", MEANT)])
def test_a_new_one_stores_the_strength_that_goes_with_its_optimiser(
    store, tmp_path, optimiser, strength
):
    training = {**SHORT, "optimiser": optimiser}
    request = RunRequest("ce+dice-surgery", patch=(16, 16), training=training)
    train_run(plan_run(store, request), tmp_path / "run", device="cpu")
    assert stored(tmp_path / "run") == strength


@pytest.mark.parametrize("loss", ["ce", "dice", "svls+dice"])
def test_a_loss_without_strength_stores_none(store, tmp_path, loss):
    request = RunRequest(loss, patch=(16, 16), training=SHORT)
    train_run(plan_run(store, request), tmp_path / "run", device="cpu")
    assert stored(tmp_path / "run") == {}


def test_the_optimiser_is_no_option_of_a_loss(store):
    with pytest.raises(ValueError, match="loss option optimiser"):
        plan(store, {"optimiser": "sgd"})


def test_paper_is_true_or_false(store, tmp_path):
    with pytest.raises(TypeError, match="paper"):
        plan(store, {"paper": "yes"})
    request = RunRequest("dice-surgery", {"paper": False}, patch=(16, 16), training=SHORT)
    train_run(plan_run(store, request), tmp_path / "run", device="cpu")
    assert stored(tmp_path / "run") == {k: FOR_SGD[k] for k in ("decline", "scale", "normalise")}


def test_a_plan_is_of_the_strength_that_it_will_be_trained_with(store):
    loss = make_run_loss(plan(store), levels=1)
    assert loss.region.surgery == SurgeryRule(None, 0.5, normalise=True)
    assert loss.weights == (1.0, 1.0)


def test_what_starts_from_an_old_one_takes_todays_strength(store, tmp_path):
    request = RunRequest("ce+dice-surgery", training=SHORT, init=FOLDER / "whole")
    train_run(plan_run(store, request), tmp_path / "run", device="cpu")
    assert stored(tmp_path / "run") == FOR_SGD
