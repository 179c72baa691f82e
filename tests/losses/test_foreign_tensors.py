"""Tensors that are not quite torch's: MONAI's MetaTensor, as its networks return it."""

import pytest
import torch
from monai.data import MetaTensor
from monai.losses import DiceLoss
from monai.networks.nets import UNet

import gradsurge as gs


@pytest.mark.parametrize("name", gs.LOSSES)
def test_every_loss_takes_a_meta_tensor(name):
    z, y = torch.randn(2, 2, 6, 6), torch.randint(0, 2, (2, 1, 6, 6))
    plain, meta = z.clone().requires_grad_(), MetaTensor(z).requires_grad_()
    gs.make_loss(name)(plain, y).backward()
    gs.make_loss(name)(meta, MetaTensor(y)).backward()
    torch.testing.assert_close(torch.Tensor(meta.grad), plain.grad)


def test_a_monai_network_fed_with_meta_tensors_trains():
    net = UNet(2, 1, 2, channels=(4, 8), strides=(2,))
    out = net(MetaTensor(torch.randn(1, 1, 8, 8)))
    y = MetaTensor(torch.randint(0, 2, (1, 1, 8, 8)))
    for loss in (gs.Surgery(DiceLoss(include_background=False)), gs.make_loss("dice-surgery")):
        loss(out, y).backward(retain_graph=True)
        assert loss.equilibrium_shift().shape == (2,)
    gs.surgery_softmax(out, y)[:, 1].sum().backward()
