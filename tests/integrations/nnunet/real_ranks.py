"""Our trainer beside nnU-Net's on two ranks with batch Dice; run where nnU-Net is.

nnU-Net trains on several devices by CUDA alone: the ranks are told that theirs is a CPU.
"""

import json
import os
from pathlib import Path

import torch
import torch.distributed as dist
from nnunetv2.training.nnUNetTrainer import nnUNetTrainer as module
from torch.nn.parallel import DistributedDataParallel

from gradsurge.integrations.nnunet import nnUNetTrainerSurgery
from tests.integrations.nnunet.real_trainers import CPU, batches, data_set, made, parameters
from tests.ranks import RANKS


def distributed(kind):
    """A trainer of this rank, with the weights of seed 0."""
    trainer = made(kind, *data_set(), batch_dice=True, resume=True)
    trainer.device, trainer.grad_scaler, trainer.logger.resume = CPU, None, False
    trainer.initialize()
    return trainer


def stepped(trainer, rank):
    """Train a step and validate one on this rank's sample; return how the weights moved."""
    trained, validated = (
        {
            "data": batch["data"][rank : rank + 1],
            "target": [level[rank : rank + 1] for level in batch["target"]],
        }
        for batch in batches(trainer, 2)
    )
    trainer.network.train()
    first = parameters(trainer)
    trainer.train_step(trained)
    moves = parameters(trainer) - first
    trainer.on_validation_epoch_start()
    with torch.no_grad():
        outputs = [trainer.validation_step(validated)]
    trainer.on_validation_epoch_end(outputs)
    return moves


def on_rank(rank, folder):
    """Compare the weights of both trainers; NLL and ECE must be those of all ranks."""
    dist.init_process_group("gloo", f"file://{folder}/store", rank=rank, world_size=RANKS)
    module.DDP = lambda network, device_ids: DistributedDataParallel(network)
    os.environ["GRADSURGE_LOSS"] = "ce+dice"
    theirs, ours = distributed(module.nnUNetTrainer), distributed(nnUNetTrainerSurgery)
    expected, found = stepped(theirs, rank), stepped(ours, rank)
    lists = ours.logger.get_checkpoint()
    told = {
        "batch": ours.batch_size,
        "moves": ((found - expected).abs().max() / expected.abs().max()).item(),
        "scores": [lists["val_nll"][0], lists["val_ece"][0]],
    }
    Path(folder, f"{rank}.json").write_text(json.dumps(told))
    dist.barrier()
