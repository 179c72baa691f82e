"""From tokens to voxels by transposed convolutions."""

from collections.abc import Sequence
from itertools import pairwise

import torch.nn.functional as F
from torch import Tensor, nn


class ChannelNorm(nn.LayerNorm):
    """Layer norm over the channels of (N, C, *S)."""

    def forward(self, x: Tensor) -> Tensor:
        last = x.movedim(1, -1)
        normed = F.layer_norm(last, self.normalized_shape, self.weight, self.bias, self.eps)
        return normed.movedim(-1, 1)


class Decoder(nn.Sequential):
    """Double the grid until a token has become its voxels: norm and GELU between, logits last.

    Args:
        token: voxels of a token along each axis, powers of two.
        width: channels of a token.
        out_channels: logits a voxel.
    """

    def __init__(self, token: Sequence[int], width: int, out_channels: int) -> None:
        channels = decoder_channels(max(token).bit_length() - 1, width, out_channels)
        layers: list[nn.Module] = []
        for done, (ins, outs) in enumerate(pairwise(channels)):
            left = len(channels) - 1 - done
            stride = tuple(2 if n >= 2**left else 1 for n in token)
            layers += [nn.ConvTranspose3d(ins, outs, stride, stride)]  # type: ignore[arg-type]
            if left > 1:
                layers += [ChannelNorm(outs, eps=1e-6), nn.GELU()]
        super().__init__(*layers)


def decoder_channels(steps: int, width: int, out_channels: int) -> list[int]:
    """Return channels before and after each step.

    They fall in equal ratios towards twice the logits, to multiples of 8 and not below.

    >>> decoder_channels(3, 396, 2)
    [396, 88, 16, 2]
    """
    ratio = (width / (2 * out_channels)) ** (1 / steps)
    between = [max(8, round(width / ratio**i / 8) * 8) for i in range(1, steps)]
    return [width, *between, out_channels]
