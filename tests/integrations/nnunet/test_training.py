"""What the trainer adds to nnU-Net's, on a stand-in for it."""

import json
import math
import os
from functools import partialmethod

import pytest
import torch
from PIL import Image
from torch import nn

from gradsurge.integrations.nnunet import SurgeryTraining, TrainerSettings
from gradsurge.integrations.nnunet.loss import Task, build_loss
from gradsurge.losses import DeepSupervision
from tests.integrations.nnunet.cases import Batch, gradients
from tests.integrations.nnunet.fake_nnunet import FakeTrainer, SurgeryTrainer, run_epoch


@pytest.fixture(autouse=True)
def nothing_told(monkeypatch):
    for name in [name for name in os.environ if name.startswith("GRADSURGE_")]:
        monkeypatch.delenv(name)


def started(folder, **options):
    trainer = SurgeryTrainer(folder, **options)
    trainer.initialize()
    trainer.on_train_start()
    return trainer


def test_the_environment_sets_the_loss_and_the_numbers_before_nnunet_uses_them(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("GRADSURGE_DECLINE", "7")
    monkeypatch.setenv("GRADSURGE_EPOCHS", "50")
    monkeypatch.setenv("GRADSURGE_LEARNING_RATE", "1e-3")
    monkeypatch.setenv("GRADSURGE_SAVE_EVERY", "5")
    trainer = started(tmp_path)
    assert trainer.planned == (50, 1e-3)
    assert trainer.save_every == 5
    assert trainer.num_iterations_per_epoch == 250
    assert isinstance(trainer.loss.loss, DeepSupervision)
    assert trainer.loss.loss.loss.region.surgery.decline == 7.0


def test_settings_are_logged_and_kept_where_nnunet_keeps_its_own(tmp_path):
    trainer = started(tmp_path, plans={"gradsurge": {"decline": 10, "loss": "dice-surgery"}})
    # An entry that does not name normalise may be older than it: the rest is the paper's.
    meant = {"decline": 10.0, "scale": 0.25, "normalise": False}
    said = TrainerSettings(loss="dice-surgery", **meant).to_json()
    assert trainer.my_init_kwargs["plans"]["gradsurge"] == said  # so in the checkpoint
    assert trainer.logger.config == {"gradsurge": said}
    assert json.loads((tmp_path / "gradsurge.json").read_text())["settings"] == said
    assert "gradsurge decline: 10.0" in trainer.lines
    assert "dice-surgery" in str(trainer.gradsurge)  # what debug.json holds


class DiceTrainer(SurgeryTrainer):
    default_loss = "dice-surgery"


def loss_of(folder, **options):
    trainer = DiceTrainer(folder, **options)
    trainer.initialize()
    trainer.on_train_start()
    return trainer.gradsurge.loss


def test_a_trainer_has_a_loss_of_its_own_unless_somebody_names_one(tmp_path, monkeypatch):
    assert loss_of(tmp_path) == "dice-surgery"
    planned = {"plans": {"gradsurge": {"loss": "ce+dice"}}}
    assert loss_of(tmp_path, **planned) == "ce+dice"
    (tmp_path / "checkpoint_latest.pth").touch()
    assert loss_of(tmp_path, resume=True) == "ce+dice"  # as stored
    monkeypatch.setenv("GRADSURGE_LOSS", "jaccard-surgery")
    assert loss_of(tmp_path, resume=True, **planned) == "jaccard-surgery"


def test_unknown_variables_are_in_the_log(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADSURGE_DECLIN", "3")
    assert any("GRADSURGE_DECLIN: not a setting" in line for line in started(tmp_path).lines)


def test_nll_and_ece_are_logged_each_epoch(tmp_path):
    trainer = started(tmp_path)
    z = run_epoch(trainer)
    expected = -z.log_softmax(1)[:, 1].mean().item()
    assert trainer.logger.lists["val_nll"] == pytest.approx([expected])
    run_epoch(trainer)
    assert [len(values) for values in trainer.logger.lists.values()] == [2, 2, 2]
    assert f"Pseudo NLL {expected:.4f}, pseudo ECE" in "\n".join(trainer.lines)
    assert trainer.loss.watch is None  # training steps are not counted


def test_the_picture_of_nnunet_gets_a_panel(tmp_path):
    Image.new("RGBA", (300, 540), "white").save(tmp_path / "progress.png")
    trainer = started(tmp_path)
    run_epoch(trainer)
    with Image.open(tmp_path / "progress.png") as picture:
        assert picture.width == 300
        assert picture.height > 540
        panel = picture.convert("L").crop((0, 540, 300, picture.height))
    assert panel.getextrema()[0] < 128  # something is drawn


def test_surgery_sets_in_when_it_should(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADSURGE_SURGERY_START", "0.5")
    monkeypatch.setenv("GRADSURGE_EPOCHS", "4")
    trainer = started(tmp_path)
    blends = []
    for _ in range(4):
        run_epoch(trainer)
        blends.append(trainer.loss.loss.blend)
    assert blends == [0.0, 0.0, 1.0, 1.0]


def test_where_nnunet_compiles_so_does_the_loss_and_the_share_of_surgery_still_counts(
    tmp_path, monkeypatch
):
    whole = partialmethod(nn.Module.compile, fullgraph=True, backend="aot_eager")
    monkeypatch.setattr(nn.Module, "compile", whole)
    monkeypatch.setattr(SurgeryTrainer, "_do_i_compile", lambda trainer: True)
    compiled, eager = started(tmp_path), build_loss(TrainerSettings(), Task(2), (1.0, 0.0))
    assert compiled.loss.loss._compiled_call_impl is not None
    z, y = torch.randn(2, 2, 4, 4), torch.randint(0, 2, (2, 1, 4, 4)).short()
    batch = Batch([z, z], [y, y])
    for blend in (0.0, 1.0):
        compiled.loss.loss.blend = eager.loss.blend = blend
        torch.testing.assert_close(gradients(compiled.loss, batch), gradients(eager, batch))


def test_nnunets_own_loss_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADSURGE_LOSS", "nnunet")
    trainer = started(tmp_path)
    assert trainer.loss.loss.weight_factors == (1.0, 0.0)
    trainer.on_train_epoch_start()  # no surgery to blend


def test_a_checkpoint_names_the_trainer_that_builds_the_network(tmp_path):
    trainer = started(tmp_path)
    trainer.save_checkpoint("x.pth")
    assert trainer.saved["x.pth"]["trainer_name"] == "nnUNetTrainer"
    assert type(trainer).__name__ == "SurgeryTrainer"


def test_a_trainer_with_a_network_of_its_own_keeps_its_name(tmp_path):
    class Mine(SurgeryTraining, FakeTrainer):
        @staticmethod
        def build_network_architecture():
            return nn.Conv2d(1, 2, 1)

    trainer = Mine(tmp_path)
    trainer.initialize()
    trainer.save_checkpoint("x.pth")
    assert trainer.saved["x.pth"]["trainer_name"] == "Mine"


def test_the_name_is_restored_even_if_saving_fails(tmp_path):
    trainer = started(tmp_path)
    trainer.saved = None
    with pytest.raises(TypeError):
        trainer.save_checkpoint("x.pth")
    assert type(trainer).__name__ == "SurgeryTrainer"


def resumed(folder, checkpoint):
    (folder / "checkpoint_latest.pth").touch()
    trainer = SurgeryTrainer(folder, resume=True)
    trainer.load_checkpoint(checkpoint)
    return trainer


def test_resuming_needs_no_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADSURGE_DECLINE", "7")
    monkeypatch.setenv("GRADSURGE_EPOCHS", "9")
    first = started(tmp_path)
    run_epoch(first)
    checkpoint = {"init_args": first.my_init_kwargs, "epoch": 1, "logging": first.logger.lists}
    monkeypatch.delenv("GRADSURGE_DECLINE")
    monkeypatch.setenv("GRADSURGE_EPOCHS", "12")  # but what it says counts
    second = resumed(tmp_path, checkpoint)
    assert (second.gradsurge.decline, second.planned[0]) == (7.0, 12)
    assert second.my_init_kwargs["plans"]["gradsurge"]["epochs"] == 12
    run_epoch(second)
    assert len(second.logger.lists["val_nll"]) == 2


def test_epochs_of_another_trainer_have_no_numbers(tmp_path):
    lists = {"mean_fg_dice": [0.1, 0.2, 0.3]}
    trainer = resumed(tmp_path, {"init_args": {"plans": {}}, "epoch": 3, "logging": lists})
    run_epoch(trainer)
    nll = trainer.logger.lists["val_nll"]
    assert [math.isnan(value) for value in nll] == [True, True, True, False]


def test_without_a_checkpoint_nothing_is_resumed(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADSURGE_DECLINE", "7")
    started(tmp_path)
    monkeypatch.delenv("GRADSURGE_DECLINE")
    assert started(tmp_path, resume=True).gradsurge.decline == TrainerSettings().decline


@pytest.mark.parametrize("before", [{"decline": 20.0, "scale": 0.25}, {"decline": 7.0}])
def test_what_older_versions_stored_means_the_papers_strength(tmp_path, before):
    started(tmp_path)
    file = tmp_path / "gradsurge.json"
    content = json.loads(file.read_text())
    for name in ("decline", "scale", "normalise"):
        del content["settings"][name]
    content["settings"] |= before
    file.write_text(json.dumps(content))
    (tmp_path / "checkpoint_latest.pth").touch()
    found = started(tmp_path, resume=True).gradsurge
    meant = {"decline": 20.0, "scale": 0.25, **before}
    assert (found.decline, found.scale, found.normalise) == (*meant.values(), False)


def saved_weights(file, **more):
    weights = FakeTrainer.build_network_architecture().state_dict()
    torch.save({"network_weights": weights, **more}, file)
    return weights


def test_a_training_starts_from_all_weights_of_a_checkpoint(tmp_path, monkeypatch):
    weights = saved_weights(tmp_path / "theirs.pth")
    monkeypatch.setenv("GRADSURGE_START_FROM", str(tmp_path / "theirs.pth"))
    trainer = started(tmp_path / "run")
    torch.testing.assert_close(dict(trainer.network.state_dict()), dict(weights))
    assert any("theirs.pth" in line for line in trainer.lines)


@pytest.mark.parametrize(("fold", "warned"), [(0, True), (1, False)])
def test_weights_of_another_fold_are_warned_of(tmp_path, monkeypatch, fold, warned):
    saved_weights(tmp_path / "theirs.pth", init_args={"fold": fold})
    monkeypatch.setenv("GRADSURGE_START_FROM", str(tmp_path / "theirs.pth"))
    said = "\n".join(started(tmp_path / "run").lines)
    assert ("WARNING: these weights are of fold 0" in said) == warned


def test_a_model_to_start_from_gives_the_weights_of_the_same_fold(tmp_path, monkeypatch):
    for fold in (0, 1):
        (tmp_path / f"fold_{fold}").mkdir()
    saved_weights(tmp_path / "fold_0" / "checkpoint_final.pth")
    weights = saved_weights(tmp_path / "fold_1" / "checkpoint_final.pth")
    monkeypatch.setenv("GRADSURGE_START_FROM", str(tmp_path))
    trainer = started(tmp_path / "run")
    torch.testing.assert_close(dict(trainer.network.state_dict()), dict(weights))


def test_a_resumed_training_does_not_ask_for_the_first_weights_again(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADSURGE_START_FROM", str(tmp_path / "gone.pth"))
    (tmp_path / "checkpoint_best.pth").touch()
    SurgeryTrainer(tmp_path, resume=True).initialize()
    with pytest.raises(ValueError, match=r"start_from: .*gone.pth: cannot be read"):
        SurgeryTrainer(tmp_path).initialize()
