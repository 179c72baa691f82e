"""As much of nnU-Net's trainer as `SurgeryTraining` leans on, for where nnU-Net is not installed.

The order of calls is that of ``run_training``; the real one is tested by its own commands.
"""

from pathlib import Path
from types import SimpleNamespace

import torch
from torch import nn

from gradsurge.integrations.nnunet.training import SurgeryTraining


class FakeLogger:
    def __init__(self, resume):
        self.resume, self.lists, self.config = resume, {"mean_fg_dice": []}, {}

    def update_config(self, config):
        self.config |= config

    def log(self, key, value, step):
        assert len(self.lists[key]) in (step, step + 1)
        self.lists[key][step:] = [value]

    def get_checkpoint(self):
        return self.lists


class FakeTrainer:
    """One output of two resolutions, a network of one convolution."""

    def __init__(self, folder, plans=None, resume=False):
        self.output_folder, self.local_rank, self.fold = str(folder), 0, 1
        self.device = torch.device("cpu")
        self.logger, self.lines = FakeLogger(resume), []
        self.plans_manager = SimpleNamespace(plans=plans or {})
        self.my_init_kwargs = {"plans": self.plans_manager.plans}
        self.configuration_manager = SimpleNamespace(batch_dice=False)
        self.label_manager = SimpleNamespace(
            num_segmentation_heads=2, has_regions=False, ignore_label=None
        )
        self.num_epochs, self.num_iterations_per_epoch = 1000, 250
        self.num_val_iterations_per_epoch, self.initial_lr = 50, 1e-2
        self.current_epoch, self.saved = 0, {}

    @staticmethod
    def build_network_architecture():
        return nn.Conv2d(1, 2, 3, padding=1)

    def print_to_log_file(self, *words, also_print_to_console=True):
        self.lines.append(" ".join(map(str, words)))

    def initialize(self):
        self.network = self.build_network_architecture()
        self.planned = self.num_epochs, self.initial_lr  # what its optimiser would get
        self.loss = self._build_loss()

    def _do_i_compile(self):
        return False

    def _build_loss(self):
        own = nn.Module()
        own.weight_factors = (1.0, 0.0)
        return own

    def on_train_start(self):
        Path(self.output_folder).mkdir(parents=True, exist_ok=True)

    def on_train_epoch_start(self):
        pass

    def on_validation_epoch_start(self):
        pass

    def on_validation_epoch_end(self, outputs):
        self.logger.log("mean_fg_dice", 0.5, self.current_epoch)

    def on_epoch_end(self):
        self.current_epoch += 1

    def save_checkpoint(self, filename):
        self.saved[filename] = {
            "trainer_name": self.__class__.__name__,
            "init_args": self.my_init_kwargs,
        }

    def load_checkpoint(self, checkpoint):
        if not hasattr(self, "network"):
            self.initialize()
        self.my_init_kwargs = checkpoint["init_args"]
        self.current_epoch = checkpoint["epoch"]
        self.logger.lists = checkpoint["logging"]


FakeTrainer.__module__ = "nnunetv2.training.nnUNetTrainer.nnUNetTrainer"
FakeTrainer.__name__ = "nnUNetTrainer"


class SurgeryTrainer(SurgeryTraining, FakeTrainer):
    pass


def run_epoch(trainer):
    """One epoch with one validation step."""
    trainer.on_train_epoch_start()
    trainer.on_validation_epoch_start()
    with torch.no_grad():
        z = trainer.network(torch.ones(1, 1, 4, 4))
        trainer.loss([z, z], [torch.ones(1, 1, 4, 4).short()] * 2)
    trainer.on_validation_epoch_end([])
    trainer.on_epoch_end()
    return z
