"""A segmentation task in Lightning, on vessel phantoms."""

import logging
import warnings

import lightning as L
import torch
from monai.networks.nets import UNet
from torch.utils.data import DataLoader, TensorDataset

import gradsurge as gs
from gradsurge.data.phantoms import make_phantom
from gradsurge.integrations.lightning import CalibrationCallback


def phantoms(first, number):
    cases = [make_phantom("vessels-2d", first + k, size=(64, 64)) for k in range(number)]
    images = torch.stack([torch.from_numpy(case.image) for case in cases])
    labels = torch.stack([torch.from_numpy(case.label[None]) for case in cases])
    return TensorDataset(images, labels)


class SegmentationTask(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.network = UNet(2, in_channels=3, out_channels=2, channels=(8, 16, 32), strides=(2, 2))
        self.loss = gs.make_loss("dice-surgery")

    def training_step(self, batch, batch_idx):
        images, labels = batch
        return self.loss(self.network(images), labels)

    def validation_step(self, batch, batch_idx):
        images, labels = batch
        return {"logits": self.network(images), "target": labels}  # what the callback measures

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-2)


if __name__ == "__main__":
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module="lightning")
    L.seed_everything(0, verbose=False)
    trainer = L.Trainer(
        max_epochs=20,
        accelerator="cpu",
        callbacks=[CalibrationCallback("logits")],
        check_val_every_n_epoch=20,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    train = DataLoader(phantoms(first=0, number=48), batch_size=8, shuffle=True)
    validation = DataLoader(phantoms(first=1000, number=24), batch_size=8)
    trainer.fit(SegmentationTask(), train, validation)
    found = trainer.callback_metrics
    print(f"NLL {found['val_nll']:.4f}  ECE {found['val_ece']:.4f}  Dice {found['val_dice']:.4f}")
