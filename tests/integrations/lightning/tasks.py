"""Lightning modules that give known logits, and trainers that leave nothing behind."""

import pytest
import torch
from lightning.pytorch import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset

from tests.integrations.batches import batches

WARNINGS = pytest.mark.filterwarnings(
    "ignore:.*does not have many workers:UserWarning",
    "ignore:.*number of training batches:UserWarning",
    # Lightning 2.6 makes leaves of trees in a way that torch 2.13 has given up.
    "ignore:.*LeafSpec.* is deprecated:FutureWarning",
)
QUIET = {
    "accelerator": "cpu",
    "devices": 1,
    "enable_checkpointing": False,
    "enable_model_summary": False,
    "enable_progress_bar": False,
}


class Task(LightningModule):
    """Passes on the logits that are its data; its one weight does nothing."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(()))

    def training_step(self, batch, batch_idx):
        return self.weight**2

    def validation_step(self, batch, batch_idx, dataloader_idx=0):
        logits, target = batch
        return {"logits": logits + self.weight, "target": target}

    def test_step(self, batch, batch_idx):
        return self.validation_step(batch, batch_idx)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)


def loader(kind, number=3, **options):
    """As many batches as `tests.integrations.batches` has, one after the other."""
    z, y = (torch.cat(parts) for parts in zip(*batches(kind, number), strict=True))
    return DataLoader(TensorDataset(z, y), batch_size=2, **options)


def trainer(folder, callback, **options):
    settings = {**QUIET, "logger": False, "default_root_dir": folder, **options}
    return Trainer(callbacks=[callback], **settings)
