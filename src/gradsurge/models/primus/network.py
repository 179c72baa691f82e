"""Primus: a transformer for the segmentation of volumes."""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gradsurge.models.checks import check_image
from gradsurge.models.primus.block import Block, initialise_block
from gradsurge.models.primus.decoder import Decoder
from gradsurge.models.primus.rotary import rotary_angles


class Primus(nn.Module):
    """Image (N, C, D, H, W) to logits (N, K, D, H, W).

    The volume is cut into tokens of, say, 8³ voxels, each mapped to a vector; blocks of attention
    and gated perceptrons follow; transposed convolutions bring the tokens back to voxels. A token's
    place enters twice: by a learnt vector for each place of the planned grid, added, and by the
    rotation of queries and keys. On a window of another size the learnt vectors are interpolated
    and the rotations computed for its own grid.

    Reference: Wald et al., "Primus: Enforcing Attention Usage for 3D Medical Image Segmentation",
    arXiv 2503.01835.

    Args:
        in_channels: C.
        out_channels: K.
        patch: size the learnt places are laid out for.
        token: voxels of a token along each axis, powers of two.
        width: channels of a token.
        layers: number of blocks.
        heads: of the attention; width / heads must be divisible by 6.
        drop_path: probability to skip a branch of the last block, falling to 0 at the first.
        layer_scale: initial scale of the branches.

    Attributes:
        levels: 1, one output.
        divisor: ``token``.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        patch: Sequence[int],
        *,
        token: Sequence[int],
        width: int,
        layers: int,
        heads: int,
        drop_path: float = 0.2,
        layer_scale: float = 0.1,
    ) -> None:
        super().__init__()
        self.in_channels, self.levels, self.divisor = in_channels, 1, tuple(token)
        self.head_width = width // heads
        size = (token[0], token[1], token[2])
        self.embedding = nn.Conv3d(in_channels, width, size, size)
        grid = (n // t for n, t in zip(patch, token, strict=True))
        self.places = nn.Parameter(torch.empty(1, width, *grid))
        self.blocks = nn.ModuleList(
            Block(width, heads, drop_path * i / max(layers - 1, 1), layer_scale)
            for i in range(layers)
        )
        self.norm = nn.LayerNorm(width)
        self.decoder = Decoder(token, width, out_channels)
        self._initialise()

    def forward(self, image: Tensor) -> Tensor:
        check_image(image, self.in_channels, self.divisor)
        x = self.embedding(image)
        grid = x.shape[2:]
        x = (x + self._places_on(grid)).flatten(2).transpose(1, 2)
        angles = rotary_angles(grid, self.head_width, x.device)
        cosine, sine = angles.cos(), angles.sin()
        for block in self.blocks:
            x = block(x, cosine, sine)
        tokens = self.norm(x).transpose(1, 2).unflatten(2, grid)
        logits: Tensor = self.decoder(tokens)
        return logits.contiguous()

    def _places_on(self, grid: Sequence[int]) -> Tensor:
        if self.places.shape[2:] == grid:
            return self.places
        return F.interpolate(self.places, tuple(grid), mode="trilinear", align_corners=False)

    def _initialise(self) -> None:
        nn.init.trunc_normal_(self.places, std=0.02)
        for index, block in enumerate(self.blocks):
            initialise_block(block, index)  # type: ignore[arg-type]
        for module in (self.embedding, *self.decoder):
            if isinstance(module, nn.Conv3d | nn.ConvTranspose3d):
                nn.init.kaiming_normal_(module.weight, a=0.01)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
