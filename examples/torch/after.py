"""A plain PyTorch loop with a Dice loss of one's own, on vessel phantoms."""

import torch
from monai.networks.nets import UNet

import gradsurge as gs
from gradsurge.data.phantoms import make_phantom


def phantoms(first, number):
    cases = [make_phantom("vessels-2d", first + k, size=(64, 64)) for k in range(number)]
    images = torch.stack([torch.from_numpy(case.image) for case in cases])
    labels = torch.stack([torch.from_numpy(case.label) for case in cases]).long()
    return images, labels


def dice_loss(logits, labels):
    p = gs.surgery_softmax(logits, labels)[:, 1]
    overlap = (p * labels).sum((1, 2))
    return 1 - ((2 * overlap + 1e-5) / (p.sum((1, 2)) + labels.sum((1, 2)) + 1e-5)).mean()


torch.manual_seed(0)
network = UNet(2, in_channels=3, out_channels=2, channels=(8, 16, 32), strides=(2, 2))
optimizer = torch.optim.Adam(network.parameters(), lr=1e-2)

images, labels = phantoms(first=0, number=48)
for _ in range(120):
    batch = torch.randint(len(images), (8,))
    loss = dice_loss(network(images[batch]), labels[batch])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

network.eval()
images, labels = phantoms(first=1000, number=24)
with torch.no_grad():
    sketch = gs.CalibrationSketch().update_logits(network(images), labels)
print(f"NLL {sketch.nll():.4f}  ECE {sketch.ece():.4f}  Dice {sketch.dice_at(0.5):.4f}")
