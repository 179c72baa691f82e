"""Batches of each kind of sketch, and the sketch they must give."""

import torch

from gradsurge.calibration import CalibrationSketch

KINDS = {"binary": None, "multiclass": 3, "multilabel": 3}


def batches(kind, number=3):
    generator = torch.Generator().manual_seed(7)
    channels = KINDS[kind] or 2
    for _ in range(number):
        z = torch.randn(2, channels, 6, 5, generator=generator) * 4
        y = torch.randint(0, channels, (2, 6, 5), generator=generator)
        yield z, torch.randint(0, 2, z.shape, generator=generator) if kind == "multilabel" else y


def whole(kind, number=3):
    sketch = CalibrationSketch(kind, KINDS[kind])
    for z, y in batches(kind, number):
        sketch.update_logits(z, y)
    return sketch


def probabilities(kind, z):
    return z.sigmoid() if kind == "multilabel" else z.softmax(1)
