"""A training of seconds: everything that could forget its state, in little."""

import copy

import torch
from torch import nn

from gradsurge.training import TrainJob, TrainSettings

CONFIG = {"name": "small", "patch": [8, 8]}


class CountingLoss(nn.Module):
    """Cross-entropy with a running mean that depends on every step."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(()))
        self.weight = 1.0

    def forward(self, logits, label):
        loss = nn.functional.cross_entropy(logits, label.long()) * self.weight
        if self.training:
            self.mean.mul_(0.9).add_(loss.detach(), alpha=0.1)
        return loss


def small_model(dropout=0.2):
    with torch.random.fork_rng():
        torch.manual_seed(3)
        return nn.Sequential(
            nn.Conv2d(1, 6, 3, padding=1),
            nn.BatchNorm2d(6),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Conv2d(6, 2, 1),
        )


def batch(number, size=4):
    """Bright discs are foreground; a function of the number alone."""
    generator = torch.Generator().manual_seed(1000 + number)
    image = torch.randn(size, 1, 8, 8, generator=generator)
    label = (torch.nn.functional.avg_pool2d(image, 3, 1, 1)[:, 0] > 0).to(torch.uint8)
    return {"image": image, "label": label, "case": [f"case_{number}_{i}" for i in range(size)]}


def batches(start):
    number = start
    while True:
        yield batch(number)
        number += 1


def dice(model, step):
    found = held_out(model)
    label = held_out_batch()["label"].bool()
    overlap = 2 * (found & label).sum() / (found.sum() + label.sum())
    return {"dice": float(overlap), "ece": 0.01 * step}


def held_out_batch():
    return batch(-1, size=16)


def held_out(model):
    return model(held_out_batch()["image"]).argmax(1).bool()


SETTINGS = TrainSettings(
    steps=12,
    seed=5,
    learning_rate=0.05,
    momentum=0.9,
    warmup=2,
    accumulate=2,
    ema=0.9,
    validate_every=4,
    checkpoint_every=3,
)


def small_job(folder, settings=SETTINGS, **changes):
    given = {
        "model": small_model(),
        "loss": CountingLoss(),
        "batches": batches,
        "settings": settings,
        "folder": folder,
        "config": copy.deepcopy(CONFIG),
        "validate": dice,
    }
    return TrainJob(**{**given, **changes})


def blend(loss):
    """A schedule that has to be set anew after an interruption."""

    def before_step(step):
        loss.weight = 1.0 + 0.1 * step

    return before_step
