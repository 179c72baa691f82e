"""A training of nnU-Net in turns: orders of `_nnunet_side.py`, in the other interpreter.

Its own trainer, loader, loss, optimiser and augmentation. Only the loop over epochs is ours, the
same two lines as in its ``run_training``, so that it can wait for the other side between turns.
"""

# mypy: disable-error-code="import-not-found"
# nnunetv2 is in the other environment only.

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from _nnunet_whole_cases import predicted_cases
from _training_dice import mean_dice
from _training_network_size import network_size

CLASSES = {"plain": "PlainConvUNet", "residual": "ResidualEncoderUNet"}


class _Training:
    """The trainer of now; one at a time."""

    trainer: Any = None
    validation: Sequence[str] = ()


def train_start(
    folder: str,
    network: str,
    features: int,
    batch: int,
    rate: float | None,
    splits: dict[str, list[str]],
    checked: list[str],
    epochs: int,
    steps: int,
    threads: int,
) -> dict[str, Any]:
    """Set up its trainer with a network of our size, and start its loaders.

    Its own SGD, or, with a learning rate, its trainer with AdamW.
    """
    torch.manual_seed(0)
    torch.set_num_threads(threads)
    base = Path(folder).parent
    (base / "splits_final.json").write_text(json.dumps([splits]))
    plans = json.loads((base / "nnUNetPlans.json").read_text())
    plan = plans["configurations"]["3d_fullres"]
    _change_network(plan["architecture"], network, features)
    plan["batch_size"] = batch
    facts = json.loads((base / "dataset.json").read_text())
    plans["continue_training"] = False
    trainer = _trainer_class(rate)(plans, "3d_fullres", 0, facts, device=torch.device("cpu"))
    trainer.initial_lr = rate or trainer.initial_lr
    trainer.num_epochs, trainer.num_iterations_per_epoch = epochs, steps
    trainer.disable_checkpointing = True
    trainer.on_train_start()
    _Training.trainer, _Training.validation = trainer, checked
    kwargs = plan["architecture"]["arch_kwargs"]
    return {
        "patch": plan["patch_size"],
        "strides": kwargs["strides"],
        "kernels": kwargs["kernel_sizes"],
        "features": kwargs["features_per_stage"],
        "network": CLASSES[network],
        **network_size(trainer.network, trainer.num_input_channels, plan["patch_size"]),
    }


def _trainer_class(rate: float | None) -> Any:
    from nnunetv2.training.nnUNetTrainer.nnUNetTrainer import nnUNetTrainer
    from nnunetv2.training.nnUNetTrainer.variants.optimizer.nnUNetTrainerAdam import (
        nnUNetTrainerAdam,
    )

    return nnUNetTrainer if rate is None else nnUNetTrainerAdam


def _change_network(architecture: dict[str, Any], network: str, features: int) -> None:
    """Keep the planned topology; set the channels, and residual blocks where they are asked for."""
    kwargs = architecture["arch_kwargs"]
    levels = kwargs["n_stages"]
    kwargs["features_per_stage"] = [min(320, features * 2**i) for i in range(levels)]
    architecture["network_class_name"] = (
        f"dynamic_network_architectures.architectures.unet.{CLASSES[network]}"
    )
    kwargs["n_conv_per_stage_decoder"] = [2] * (levels - 1)
    if network == "residual":
        del kwargs["n_conv_per_stage"]
        kwargs["n_blocks_per_stage"] = [1] * levels


def train_epoch(steps: int) -> dict[str, Any]:
    """Train so many steps with the learning rate of the next epoch, then score whole cases."""
    trainer = _Training.trainer
    trainer.on_train_epoch_start()
    seconds, waiting = [], []
    for _ in range(steps):
        start = time.perf_counter()
        batch = next(trainer.dataloader_train)
        waiting.append(time.perf_counter() - start)
        trainer.train_step(batch)
        seconds.append(time.perf_counter() - start)
    trainer.current_epoch += 1
    return {"seconds": seconds, "waiting": waiting, "dice": _validation_dice(trainer)}


def _validation_dice(trainer: Any) -> float:
    """Predict the preprocessed validation cases by its own sliding window, without mirroring."""
    masks, labels = [], []
    for logits, label in predicted_cases(trainer, _Training.validation):
        masks.append(logits.argmax(0).numpy())
        labels.append(label)
    return mean_dice(masks, labels, trainer.label_manager.foreground_labels)


def train_stop() -> dict[str, Any]:
    """End its loaders."""
    _Training.trainer.on_train_end()
    _Training.trainer = None
    return {}
