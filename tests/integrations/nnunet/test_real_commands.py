"""What nnU-Net's own commands leave behind with our trainer, and what ours make of it.

One test, so that parallel workers do not run the commands twice: a minute or two, and only where
an environment with nnU-Net is.
"""

import json
import math
import sys

import nibabel
import numpy as np
import pytest
import torch
from PIL import Image

from gradsurge.cli import main
from gradsurge.experiments.evaluation.run import evaluate
from gradsurge.experiments.evaluation.settings import Settings
from gradsurge.integrations.nnunet.start_weights import _NUMBERS
from tests.integrations.nnunet.nnunet_environment import ask, run
from tests.integrations.nnunet.real_commands import all_commands


def test_from_raw_cases_to_scores(nnunet_python, tmp_path, monkeypatch):
    work = all_commands(tmp_path, nnunet_python)
    a_killed_training_went_on_with_its_settings(work)
    calibration_is_in_the_log_the_plot_and_the_checkpoint(work)
    evaluate_reads_validation_and_predictions_as_they_are(work)
    nnunet_ensembles_what_recalibrate_wrote(work, monkeypatch)
    the_trainer_takes_the_steps_of_nnunets_own(work)


def a_killed_training_went_on_with_its_settings(work):
    assert "Epoch 0" in work.printed["train"]
    assert "Epoch 0" not in work.printed["resume"]
    assert "Epoch 1" in work.printed["resume"]
    settings = json.loads((work.fold / "gradsurge.json").read_text())["settings"]
    assert (settings["decline"], settings["iterations"], settings["epochs"]) == (10.0, 2, 2)
    debug = json.loads((work.fold / "debug.json").read_text())
    assert "SurgeryRule(decline=10.0" in debug["loss"]


def calibration_is_in_the_log_the_plot_and_the_checkpoint(work):
    logs = sorted(work.fold.glob("training_log_*.txt"))
    assert len(logs) == 2
    assert all("Pseudo NLL" in log.read_text() for log in logs)
    with Image.open(work.fold / "progress.png") as picture:
        assert picture.height > 5400  # nnU-Net's three panels
    with torch.serialization.safe_globals(_NUMBERS):
        kept = torch.load(work.fold / "checkpoint_final.pth", weights_only=True)
    assert kept["trainer_name"] == "nnUNetTrainer"
    assert kept["init_args"]["plans"]["gradsurge"]["decline"] == 10.0
    assert len(kept["logging"]["val_nll"]) == len(kept["logging"]["val_ece"]) == 2
    assert all(map(math.isfinite, kept["logging"]["val_nll"]))


def plain_scores(folder, labels):
    """NLL over all voxels, and Dice of the masks that nnU-Net wrote, by NumPy and nibabel."""
    costs, dices = [], []
    for file in sorted(folder.glob("*.npz")):
        with np.load(file) as content:
            p = content["probabilities"].transpose(0, 3, 2, 1).astype(np.float64)
        label = np.asarray(nibabel.load(labels / f"{file.stem}.nii.gz").dataobj).astype(int)
        mask = np.asarray(nibabel.load(folder / f"{file.stem}.nii.gz").dataobj)
        costs.append(-np.log(np.take_along_axis(p, label[None], 0)).ravel())
        pairs = [(mask == c, label == c) for c in (1, 2)]
        dices.append([2 * (a & b).sum() / max(a.sum() + b.sum(), 1) for a, b in pairs])
    return np.concatenate(costs).mean(), np.mean(dices)


def evaluate_reads_validation_and_predictions_as_they_are(work):
    quick = Settings(regions=("all",), lesions=False)
    for folder, labels in (
        (work.fold / "validation", work.base / "gt_segmentations"),
        (work.root / "new", work.raw / "labelsTs"),
    ):
        found = evaluate({"m": folder}, labels, quick)
        assert found.problems == []
        nll, dice = plain_scores(folder, labels)
        model = found.models["m"]
        assert len(model.cases) == 2
        assert model.sketches["all"].nll() == pytest.approx(nll, rel=1e-6)
        per_case = [model.means["all", f"class {c}", "dice"].mean for c in (1, 2)]
        assert np.mean(per_case) == pytest.approx(dice, abs=1e-9)


def nnunet_ensembles_what_recalibrate_wrote(work, monkeypatch):
    new, out, both = (work.root / name for name in ("new", "recalibrated", "both"))
    command = ["recalibrate", "--nnunet", work.fold.parent, "--predictions", new, "--out", out]
    monkeypatch.setattr(sys, "argv", ["gradsurge", *map(str, command)])
    with pytest.raises(SystemExit) as end:
        main()
    assert not end.value.code
    ensemble = ["-i", new, out, "-o", both, "-np", "1", "--save_npz"]
    run([work.command("nnUNetv2_ensemble"), *ensemble], work.variables())
    for file in out.glob("*.npz"):
        maps = []
        for folder in (new, out, both):
            with np.load(folder / file.name) as content:
                maps.append(content["probabilities"])
        np.testing.assert_allclose(maps[2], (maps[0] + maps[1]) / 2, atol=1e-6)


def the_trainer_takes_the_steps_of_nnunets_own(work):
    checkpoint = work.fold / "checkpoint_final.pth"
    found = ask(
        work.python, "tests.integrations.nnunet.real_trainers", work.variables(), checkpoint
    )
    assert len(found["steps"]) == 4
    for name, differences in found["steps"].items():
        assert differences["scores"] < 1e-4, name
        assert differences["moves"] < 1e-3, name  # float32, after steps of both in another order
        assert differences["surgery"] < 1e-5, name
        assert 0 < differences["ece"] < differences["nll"], name
    body_and_heads = {"--c": [1, 1], "start_from": [1, 1], "-pretrained_weights": [1, 0]}
    assert found["starts"] == body_and_heads
    assert found["epoch"] == 2
    dice = ["nnUNetTrainerDiceSurgery", "dice-surgery", "nnUNetTrainer"]
    assert found["dice_trainer"] == dice
    assert found["by_variable"]
    first, second = found["ranks"]
    assert first["batch"] == second["batch"] == 1
    assert max(first["moves"], second["moves"]) < 1e-4
    assert first["scores"] == second["scores"]  # counted over both
