"""Our loss against nnU-Net's own classes; run where nnU-Net is, prints the largest differences."""

import json
import sys
import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
from nnunetv2.training.loss.compound_losses import DC_and_BCE_loss, DC_and_CE_loss
from nnunetv2.training.loss.deep_supervision import DeepSupervisionWrapper
from nnunetv2.training.loss.dice import MemoryEfficientSoftDiceLoss
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from gradsurge import surgery_sigmoid, surgery_softmax
from gradsurge.integrations.nnunet.loss import build_loss
from gradsurge.integrations.nnunet.settings import TrainerSettings
from tests.integrations.nnunet.cases import TASKS, WEIGHTS, batch_of, gradients
from tests.ranks import RANKS, run_ranks


def nnunets(task, ddp=False):
    """As ``nnUNetTrainer._build_loss`` makes it."""
    dice = {"batch_dice": task.batch_dice, "smooth": 1e-5, "ddp": ddp}
    kind = {"dice_class": MemoryEfficientSoftDiceLoss}
    if task.regions:
        ignored = task.ignore_label is not None
        return DC_and_BCE_loss({}, {**dice, "do_bg": True}, use_ignore_label=ignored, **kind)
    return DC_and_CE_loss({**dice, "do_bg": False}, {}, ignore_label=task.ignore_label, **kind)


def operated(task, ddp=False):
    """nnU-Net's loss at one resolution, with our operator in the place of its activation.

    The operator knows nothing of other ranks: there it is not normalised.
    """
    own = nnunets(task, ddp)
    usual = TrainerSettings()
    rule = {
        "decline": usual.decline,
        "scale": usual.scale,
        "normalise": not ddp and ("batch" if task.batch_dice else True),
    }

    def loss(z, y):
        if task.regions:
            kept = None if task.ignore_label is None else ~y[:, -1:]
            labels = y if kept is None else y[:, :-1]
            own.dc.apply_nonlin = lambda z: surgery_sigmoid(z, labels, mask=kept, **rule)
        else:
            own.dc.apply_nonlin = lambda z: surgery_softmax(
                z, y, ignore_index=task.ignore_label, **rule
            )
        return own(z, y)

    return loss


def largest(found, expected):
    """The largest difference of values and gradients, relative to the largest gradient."""
    differences = [abs(found[0] - expected[0]).item() / abs(expected[0]).item()]
    for mine, theirs in zip(found[1], expected[1], strict=True):
        differences.append(((mine - theirs).abs().max() / theirs.abs().max()).item())
    return max(differences)


def compare(task):
    batch = batch_of(task, dtype=torch.float32)
    plain = DeepSupervisionWrapper(nnunets(task), WEIGHTS)
    surgical = DeepSupervisionWrapper(operated(task), WEIGHTS)
    return {
        "plain": largest(
            gradients(build_loss(TrainerSettings(loss="ce+dice"), task, WEIGHTS), batch),
            gradients(plain, batch),
        ),
        "surgery": largest(
            gradients(build_loss(TrainerSettings(), task, WEIGHTS), batch),
            gradients(surgical, batch),
        ),
    }


def at_the_weights(ours, theirs, batch):
    """The difference between the gradients of a distributed network's weights."""
    found = []
    for loss in (ours, theirs):
        torch.manual_seed(0)
        net = DistributedDataParallel(nn.Conv3d(3, 3, 1))
        loss(net(batch.outputs[0].float()), batch.targets[0]).backward()
        found.append(net.module.weight.grad)
    return ((found[0] - found[1]).abs().max() / found[1].abs().max()).item()


def on_rank(rank, folder):
    """Batch Dice of two ranks under DistributedDataParallel: what reaches the weights."""
    dist.init_process_group("gloo", f"file://{folder}/store", rank=rank, world_size=RANKS)
    found = {}
    for name in ("classes, batch Dice", "regions, batch Dice"):
        task = TASKS[name]
        plain = build_loss(TrainerSettings(loss="ce+dice"), task, None)
        surgical = build_loss(TrainerSettings(normalise=False), task, None)
        found[name] = {
            "plain": at_the_weights(plain, nnunets(task, ddp=True), batch_of(task, rank)),
            "surgery": at_the_weights(surgical, operated(task, ddp=True), batch_of(task, rank)),
        }
    Path(folder, f"{rank}.json").write_text(json.dumps(found))
    dist.barrier()


def main():
    found = {name: compare(task) for name, task in TASKS.items()}
    with tempfile.TemporaryDirectory() as folder:
        for rank, told in enumerate(run_ranks("tests.integrations.nnunet.real_losses", folder)):
            found |= {f"{name}, rank {rank}": kinds for name, kinds in told.items()}
    sys.stdout.write(f"{json.dumps(found)}\n")


if __name__ == "__main__":
    main()
