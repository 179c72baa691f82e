"""MONAI's SupervisedTrainer and SupervisedEvaluator, on vessel phantoms."""

import torch
from monai.data import DataLoader, Dataset
from monai.engines import SupervisedEvaluator, SupervisedTrainer
from monai.losses import DiceLoss
from monai.networks.nets import UNet
from monai.utils import set_determinism

from gradsurge.data.phantoms import make_phantom
from gradsurge.integrations.monai import CalibrationHandler


def phantoms(first, number):
    cases = [make_phantom("vessels-2d", first + k, size=(64, 64)) for k in range(number)]
    return Dataset([{"image": case.image, "label": case.label[None]} for case in cases])


set_determinism(0)
network = UNet(2, in_channels=3, out_channels=2, channels=(8, 16, 32), strides=(2, 2))
loss_function = DiceLoss(include_background=False, to_onehot_y=True, softmax=True)

trainer = SupervisedTrainer(
    device=torch.device("cpu"),
    max_epochs=20,
    train_data_loader=DataLoader(phantoms(first=0, number=48), batch_size=8, shuffle=True),
    network=network,
    optimizer=torch.optim.Adam(network.parameters(), lr=1e-2),
    loss_function=loss_function,
)
evaluator = SupervisedEvaluator(
    device=torch.device("cpu"),
    val_data_loader=DataLoader(phantoms(first=1000, number=24), batch_size=8),
    network=network,
    key_val_metric={"val": CalibrationHandler("logits")},
)
trainer.run()
evaluator.run()
found = evaluator.state.metrics
print(f"NLL {found['val_nll']:.4f}  ECE {found['val_ece']:.4f}  Dice {found['val_dice']:.4f}")
