"""MONAI's engines on a few tiny pictures, whose label is where the picture is bright."""

import torch
from monai.data import DataLoader, Dataset
from monai.engines import SupervisedEvaluator, SupervisedTrainer
from torch import nn

CASES, SIDE = 5, 8


def cases(classes=2):
    generator = torch.Generator().manual_seed(3)
    image = torch.randn(CASES, 1, SIDE, SIDE, generator=generator)
    label = (image > 0.3).long() + (image > 1.0).long() * (classes > 2)
    return [{"image": i, "label": y} for i, y in zip(image, label, strict=True)]


def loader(batch=2, classes=2):
    return DataLoader(Dataset(cases(classes)), batch_size=batch, num_workers=0)


def network(channels=2):
    torch.manual_seed(1)
    return nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, channels, 1))


def trainer(net, loss, classes=2, epochs=1, **options):
    return SupervisedTrainer(
        device="cpu",
        max_epochs=epochs,
        train_data_loader=loader(classes=classes),
        network=net,
        optimizer=torch.optim.Adam(net.parameters(), 0.02),
        loss_function=loss,
        **options,
    )


def evaluator(net, classes=2, **options):
    return SupervisedEvaluator(
        device="cpu", val_data_loader=loader(classes=classes), network=net, **options
    )


def logits_and_labels(net, classes=2):
    """What the evaluator's network gives for all cases."""
    everything = cases(classes)
    with torch.no_grad():
        return net(torch.stack([c["image"] for c in everything])), torch.stack(
            [c["label"] for c in everything]
        )
