"""Residual U-Net in two and three dimensions, of MONAI's blocks."""

from collections.abc import Sequence
from math import prod

import torch
from torch import Tensor, nn

from gradsurge.models.checks import check_image

Vector = tuple[int, ...]


class ResidualUNet(nn.Module):
    """U-Net with a residual encoder: image (N, C, *P) to logits (N, K, *P).

    A level of the encoder is one or more residual blocks (convolution, norm, leaky ReLU,
    convolution, norm, sum, leaky ReLU), the first with the level's stride. The decoder goes up by
    transposed convolution, joins what the encoder left there and convolves twice. Norms are over
    each sample and channel. If the first level has a stride, the logits come from a transposed
    convolution by that stride.

    With ``deep_supervision``, `forward` in train() mode returns a list of logits, one a level
    above the bottom, each on its own grid, the finest first.

    Args:
        in_channels: C.
        out_channels: K.
        strides: of the levels, the finest first.
        kernels: of the levels.
        features: channels of the levels.
        blocks: residual blocks of the levels of the encoder.
        deep_supervision: see above.

    Attributes:
        levels: number of outputs in train() mode.
        divisor: what the sizes P must be divisible by.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        strides: Sequence[Vector],
        kernels: Sequence[Vector],
        features: Sequence[int],
        blocks: Sequence[int],
        deep_supervision: bool = False,
    ) -> None:
        super().__init__()
        self.in_channels = in_channels
        self.divisor = tuple(prod(steps) for steps in zip(*strides, strict=True))
        bottom = len(strides) - 1
        self.levels = bottom if deep_supervision else 1
        ins = (in_channels, *features)
        self.encoder = nn.ModuleList(
            _encoder_level(ins[i], features[i], kernels[i], strides[i], blocks[i])
            for i in range(bottom + 1)
        )
        self.decoder = nn.ModuleList(
            _decoder_level(features[i + 1], features[i], kernels[i], strides[i + 1])
            for i in range(bottom)
        )
        self.heads = nn.ModuleList(
            _head(features[i], out_channels, strides[0] if i == 0 else (1,) * len(strides[0]))
            for i in range(self.levels)
        )
        self.apply(_initialise)

    def forward(self, image: Tensor) -> Tensor | list[Tensor]:
        check_image(image, self.in_channels, self.divisor)
        x, skipped = _fast_layout(image), []
        for level in self.encoder:
            x = level(x)
            skipped.append(x)
        outputs: list[Tensor] = []
        for i in reversed(range(len(self.decoder))):
            x = self.decoder[i](x, skipped[i])
            if i == 0 or (self.training and i < self.levels):
                outputs.insert(0, self.heads[i](x).contiguous())
        return outputs if self.training and self.levels > 1 else outputs[0]


def _encoder_level(ins: int, outs: int, kernel: Vector, stride: Vector, count: int) -> nn.Module:
    from monai.networks.blocks.dynunet_block import UnetResBlock

    axes, norm = len(kernel), _norm(outs)
    level = [UnetResBlock(axes, ins, outs, kernel, stride, norm)]
    level += [UnetResBlock(axes, outs, outs, kernel, (1,) * axes, norm) for _ in range(count - 1)]
    return nn.Sequential(*level)


def _decoder_level(ins: int, outs: int, kernel: Vector, stride: Vector) -> nn.Module:
    from monai.networks.blocks.dynunet_block import UnetUpBlock

    level: nn.Module = UnetUpBlock(
        len(kernel), ins, outs, kernel, (1,) * len(kernel), stride, _norm(outs)
    )
    return level


def _head(ins: int, outs: int, stride: Vector) -> nn.Module:
    """Return the layer from features to logits, up by ``stride``."""
    plain: type[nn.Module] = nn.Conv2d if len(stride) == 2 else nn.Conv3d
    up: type[nn.Module] = nn.ConvTranspose2d if len(stride) == 2 else nn.ConvTranspose3d
    if any(step > 1 for step in stride):
        return up(ins, outs, stride, stride)
    return plain(ins, outs, 1)


def _norm(channels: int) -> tuple[str, dict[str, object]]:
    """Return instance norm as a group norm of one channel a group.

    The same function, but torch's instance norm copies on the CPU what lies channels last, and is
    slower there anyway.
    """
    return "group", {"num_groups": channels, "affine": True}


def _fast_layout(image: Tensor) -> Tensor:
    """Lay an image as the CPU's convolutions like it: volumes channels last, pictures first.

    A training step in 3D takes a sixth less time that way, one in 2D a third more. A fresh tensor,
    because with one channel torch calls either layout both. In 2D it is also a matter of safety:
    of few channels laid last, oneDNN's strided 1x1 convolution, which is what a level's shortcut
    is, writes past its workspace (uxlfoundation/oneDNN issue 6035, seen with torch 2.13).
    """
    if image.device.type != "cpu":
        return image
    layout = torch.channels_last_3d if image.ndim == 5 else torch.contiguous_format
    return torch.empty_like(image, memory_format=layout).copy_(image)


def _initialise(module: nn.Module) -> None:
    if isinstance(module, nn.Conv2d | nn.Conv3d | nn.ConvTranspose2d | nn.ConvTranspose3d):
        nn.init.kaiming_normal_(module.weight, a=0.01)
        if module.bias is not None:
            nn.init.zeros_(module.bias)
