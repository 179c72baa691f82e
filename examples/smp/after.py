"""A model of segmentation-models-pytorch, on vessel phantoms."""

import segmentation_models_pytorch as smp
import torch

import gradsurge as gs
from gradsurge.data.phantoms import make_phantom


def phantoms(first, number):
    cases = [make_phantom("vessels-2d", first + k, size=(64, 64)) for k in range(number)]
    images = torch.stack([torch.from_numpy(case.image) for case in cases])
    labels = torch.stack([torch.from_numpy(case.label[None]) for case in cases])
    return images, labels


torch.manual_seed(0)
network = smp.Unet(
    "mobilenet_v2",
    encoder_depth=3,
    encoder_weights=None,
    decoder_channels=(32, 16, 8),
    in_channels=3,
    classes=1,
)
loss_function = gs.make_loss("dice-surgery", activation="sigmoid")
optimizer = torch.optim.Adam(network.parameters(), lr=1e-2)

images, labels = phantoms(first=0, number=48)
for _ in range(120):
    batch = torch.randint(len(images), (8,))
    loss = loss_function(network(images[batch]), labels[batch])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

images, labels = phantoms(first=1000, number=24)
network.eval()
with torch.no_grad():
    sketch = gs.CalibrationSketch().update_logits(network(images), labels)
print(f"NLL {sketch.nll():.4f}  ECE {sketch.ece():.4f}  Dice {sketch.dice_at(0.5):.4f}")
