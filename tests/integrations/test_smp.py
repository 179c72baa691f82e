"""The losses on outputs of segmentation-models-pytorch, where it can be imported."""

import pytest
import torch

import gradsurge as gs


def _smp():
    """Import it, or skip: its timm needs a torchvision that a torch without CUDA cannot load."""
    try:
        import segmentation_models_pytorch as smp
    except (ImportError, RuntimeError) as error:
        pytest.skip(f"segmentation-models-pytorch cannot be imported here: {error}")
    return smp


def model(smp, classes):
    torch.manual_seed(0)
    small = {"encoder_depth": 3, "decoder_channels": (16, 8, 8), "encoder_weights": None}
    return smp.Unet("mobilenet_v2", in_channels=1, classes=classes, **small)


@pytest.mark.parametrize(
    ("classes", "options", "labels"),
    [
        (1, {"activation": "sigmoid"}, (2, 1, 64, 64)),
        (1, {"activation": "sigmoid"}, (2, 64, 64)),
        (2, {}, (2, 64, 64)),
        (3, {}, (2, 64, 64)),
        (3, {"activation": "sigmoid"}, (2, 3, 64, 64)),
    ],
)
@pytest.mark.parametrize("name", ["dice-surgery", "ce+dice-surgery"])
def test_every_weight_learns(name, classes, options, labels):
    smp = _smp()
    network = model(smp, classes)
    images, target = torch.randn(2, 1, 64, 64), torch.randint(0, 2 if options else classes, labels)
    network(images).sum().backward()
    used = {n for n, p in network.named_parameters() if p.grad is not None}  # not the whole encoder
    network.zero_grad()
    loss = gs.make_loss(name, **options)
    loss(network(images), target).backward()
    learning = {n: p.grad for n, p in network.named_parameters() if p.grad is not None}
    assert set(learning) == used
    assert all(gradient.isfinite().all() for gradient in learning.values())
    assert loss.equilibrium_shift().isfinite().all()


@pytest.mark.parametrize("classes", [2, 3])
def test_the_value_of_their_dice_is_kept(classes):
    """`Surgery` round smp's own loss, which must take one-hot labels: mode multilabel."""
    smp = _smp()
    logits = torch.randn(2, classes, 16, 16, requires_grad=True)
    target = torch.randint(0, classes, (2, 16, 16))
    expected = smp.losses.DiceLoss("multiclass", from_logits=True)(logits, target)
    found = gs.Surgery(smp.losses.DiceLoss("multilabel", from_logits=False))(logits, target)
    torch.testing.assert_close(found, expected)
    with pytest.raises(ValueError, match="from_logits=False"):
        gs.Surgery(smp.losses.DiceLoss("multiclass"))
