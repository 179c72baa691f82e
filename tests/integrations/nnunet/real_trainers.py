"""Our trainer beside nnU-Net's on the same batches; run where nnU-Net is, after preprocessing.

With the loss "ce+dice" the weights after some steps must be those of nnU-Net's own trainer, for
class and region training, with and without an ignore label, and with batch Dice; with surgery, the
gradient that reaches the logits must be that of nnU-Net's loss with our operator in it.
"""

import copy
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

import torch
from nnunetv2.paths import nnUNet_preprocessed
from nnunetv2.run.run_training import maybe_load_checkpoint
from nnunetv2.training.loss.deep_supervision import DeepSupervisionWrapper
from nnunetv2.training.nnUNetTrainer.nnUNetTrainer import nnUNetTrainer
from nnunetv2.utilities.find_class_by_name import recursive_find_python_class

from gradsurge.experiments.nnunet.installing import trainer_folder
from gradsurge.integrations.nnunet import nnUNetTrainerDiceSurgery, nnUNetTrainerSurgery
from tests.integrations.nnunet.real_losses import operated
from tests.ranks import run_ranks

REGIONS = {"background": 0, "whole": [1, 2], "posterior": 2}
CPU = torch.device("cpu")


def data_set(regions=False, ignore=False):
    (base,) = Path(str(nnUNet_preprocessed)).glob("Dataset004_*")
    plans = json.loads((base / "nnUNetPlans.json").read_text())
    facts = json.loads((base / "dataset.json").read_text())
    if regions:
        facts |= {"labels": REGIONS, "regions_class_order": [1, 2]}
    if ignore:
        facts["labels"] = {**facts["labels"], "ignore": 3}
    return plans, facts


def made(kind, plans, facts, *, batch_dice=False, fold=0, resume=False):
    """A trainer with the weights of seed 0, not initialised if it is to resume."""
    torch.manual_seed(0)
    plans = copy.deepcopy(plans) | {"continue_training": resume}
    plans["configurations"]["3d_fullres"]["batch_dice"] = batch_dice
    plans.pop("gradsurge", None)
    trainer = kind(plans, "3d_fullres", fold, copy.deepcopy(facts), CPU)
    if not resume:
        trainer.initialize()
    return trainer


def batches(trainer, number):
    """Random scans and labels, brought to all resolutions by nnU-Net's own transforms."""
    labels = trainer.label_manager
    transforms = trainer.get_validation_transforms(
        trainer._get_deep_supervision_scales(),
        regions=labels.foreground_regions if labels.has_regions else None,
        ignore_label=labels.ignore_label,
    )
    size = trainer.configuration_manager.patch_size
    highest = 3 if labels.has_ignore_label else 2
    draws = torch.Generator().manual_seed(1)
    for _ in range(number):
        samples = []
        for _ in range(2):
            label = torch.randint(0, highest + 1, (1, *(n // 8 for n in size)), generator=draws)
            for axis in (1, 2, 3):
                label = label.repeat_interleave(8, axis)
            image = label.float() + torch.randn(label.shape, generator=draws)
            samples.append(transforms(image=image, segmentation=label.short()))
        levels = zip(*(s["segmentation"] for s in samples), strict=True)
        yield {
            "data": torch.stack([s["image"] for s in samples]),
            "target": [torch.stack(level) for level in levels],
        }


def parameters(trainer):
    return torch.cat([p.detach().clone().flatten() for p in trainer.network.parameters()])


def stepped(trainer):
    """Train two steps and validate one; return losses and Dice, and how the weights moved."""
    trainer.network.train()
    first = parameters(trainer)
    losses = [float(trainer.train_step(b)["loss"]) for b in batches(trainer, 2)]
    moves = parameters(trainer) - first
    trainer.on_validation_epoch_start()
    with torch.no_grad():
        outputs = [trainer.validation_step(b) for b in batches(trainer, 1)]
    trainer.on_validation_epoch_end(outputs)
    dice = float(trainer.logger.get_checkpoint()["mean_fg_dice"][0])
    return [*losses, float(outputs[0]["loss"]), dice], moves


def compare(regions, ignore, batch_dice):
    plans, facts = data_set(regions, ignore)
    os.environ["GRADSURGE_LOSS"] = "ce+dice"
    theirs, ours, surgical = (
        made(kind, plans, facts, batch_dice=batch_dice)
        for kind in (nnUNetTrainer, nnUNetTrainerSurgery, _with_surgery)
    )
    (scores, moves), (own_scores, own_moves) = stepped(theirs), stepped(ours)
    lists = ours.logger.get_checkpoint()
    return {
        "scores": max(abs(a - b) for a, b in zip(scores, own_scores, strict=True)),
        "moves": ((moves - own_moves).abs().max() / moves.abs().max()).item(),
        "surgery": at_the_logits(surgical),
        "nll": lists["val_nll"][0],
        "ece": lists["val_ece"][0],
    }


def _with_surgery(*arguments):
    os.environ.pop("GRADSURGE_LOSS")
    return nnUNetTrainerSurgery(*arguments)


def at_the_logits(trainer):
    """The largest difference between the gradient at the logits and the expected one."""
    (batch,) = batches(trainer, 1)
    expected = DeepSupervisionWrapper(operated(trainer._task()), trainer.loss.loss.weights)
    found = []
    for loss in (trainer.loss, expected):
        outputs = [z.detach().requires_grad_() for z in trainer.network(batch["data"])]
        loss(outputs, batch["target"]).backward()
        found.append([z.grad for z in outputs if z.grad is not None])
    pairs = zip(*found, strict=True)
    return max(((ours - theirs).abs().max() / theirs.abs().max()).item() for ours, theirs in pairs)


def started(checkpoint, way):
    """Whether all weights of body and of heads are those of a checkpoint; and the epoch."""
    trainer = made(nnUNetTrainerSurgery, *data_set(), fold=1, resume=True)
    trainer.logger.resume = way == "--c"
    if way == "--c":
        shutil.copy(checkpoint, trainer.output_folder)
    if way == "start_from":
        os.environ["GRADSURGE_START_FROM"] = checkpoint
    maybe_load_checkpoint(
        trainer, way == "--c", False, checkpoint if way == "-pretrained_weights" else None
    )
    if way == "start_from":
        trainer.initialize()
        del os.environ["GRADSURGE_START_FROM"]
    theirs = torch.load(checkpoint, weights_only=False)["network_weights"]
    same = {k: torch.equal(w, theirs[k]) for k, w in trainer.network.state_dict().items()}
    heads = [k for k in same if ".seg_layers." in k]
    body = all(same[k] for k in same if k not in heads)
    return [int(body), int(all(same[k] for k in heads))], trainer.current_epoch


def dice_trainer():
    """The loss of the second trainer, and whose checkpoints it says they are."""
    trainer = made(nnUNetTrainerDiceSurgery, *data_set())
    with tempfile.TemporaryDirectory() as folder:
        trainer.save_checkpoint(str(Path(folder, "x.pth")))
        kept = torch.load(Path(folder, "x.pth"), weights_only=False)
    told = kept["init_args"]["plans"]["gradsurge"]["loss"]
    return [type(trainer).__name__, told, kept["trainer_name"]]


def by_variable():
    """Whether nnU-Net finds the trainers in the folder that `nnUNet_extTrainer` is to name.

    Its own trainers, which it searches before, cannot all be imported beside every torchvision.
    """
    folder = str(trainer_folder())
    options = {"base_folder": folder, "cleanup_imports_from_base_folder": True}
    kinds = (nnUNetTrainerSurgery, nnUNetTrainerDiceSurgery)
    found = [recursive_find_python_class(folder, k.__name__, None, **options) for k in kinds]
    return found == list(kinds)


def main():
    found = {
        "steps": {
            "classes": compare(False, False, False),
            "classes, ignore label": compare(False, True, True),
            "regions": compare(True, False, True),
            "regions, ignore label": compare(True, True, False),
        }
    }
    ways = ("-pretrained_weights", "start_from", "--c")
    starts = {way: started(sys.argv[1], way) for way in ways}
    found["starts"] = {way: same for way, (same, _) in starts.items()}
    found["epoch"] = starts["--c"][1]
    found["dice_trainer"] = dice_trainer()
    found["by_variable"] = by_variable()
    with tempfile.TemporaryDirectory() as folder:
        found["ranks"] = run_ranks("tests.integrations.nnunet.real_ranks", folder)
    sys.stdout.write(f"\n{json.dumps(found, default=float)}\n")


if __name__ == "__main__":
    main()
