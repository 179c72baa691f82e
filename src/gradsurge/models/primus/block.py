"""Transformer block in the manner of EVA-02."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gradsurge.models.primus.rotary import rotate


class Attention(nn.Module):
    """Self-attention with rotated queries and keys, and a norm before the output.

    softmax(q kᵀ / √(width / heads)) v in every head; keys have no bias, which softmax would cancel.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
        q, k, v = (
            layer(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for layer in (self.query, self.key, self.value)
        )
        mixed = F.scaled_dot_product_attention(rotate(q, cosine, sine), rotate(k, cosine, sine), v)
        out: Tensor = self.out(self.norm(mixed.transpose(1, 2).flatten(-2)))
        return out


class SwiGLU(nn.Module):
    """Gated perceptron with a norm before the output: out(norm(silu(gate(x)) · value(x)))."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.gate = nn.Linear(width, hidden)
        self.value = nn.Linear(width, hidden)
        self.norm = nn.LayerNorm(hidden)
        self.out = nn.Linear(hidden, width)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.out(self.norm(F.silu(self.gate(x)) * self.value(x)))
        return out


class Block(nn.Module):
    """Attention, then perceptron, each added to what came in: x + scale · f(norm(x)).

    Args:
        width: channels of a token.
        heads: of the attention.
        drop_path: probability that a sample skips a branch in train() mode; the others' branch is
            enlarged in proportion.
        layer_scale: initial value of the learnt scale, one a channel.
    """

    def __init__(self, width: int, heads: int, drop_path: float, layer_scale: float) -> None:
        super().__init__()
        self.drop_path = drop_path
        self.norm1 = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.scale1 = nn.Parameter(torch.full((width,), layer_scale))
        self.norm2 = nn.LayerNorm(width)
        self.perceptron = SwiGLU(width, width * 8 // 3)
        self.scale2 = nn.Parameter(torch.full((width,), layer_scale))

    def forward(self, x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
        x = x + self._dropped(self.scale1 * self.attention(self.norm1(x), cosine, sine))
        return x + self._dropped(self.scale2 * self.perceptron(self.norm2(x)))

    def _dropped(self, branch: Tensor) -> Tensor:
        if not self.training or self.drop_path == 0:
            return branch
        kept = 1 - self.drop_path
        samples = branch.new_empty(len(branch), 1, 1).bernoulli_(kept)
        return branch * samples / kept


def initialise_block(block: Block, index: int) -> None:
    """Draw the weights of the block at ``index``, from 0: deeper blocks speak more softly."""
    for module in block.modules():
        if isinstance(module, nn.Linear):
            nn.init.trunc_normal_(module.weight, std=0.02)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
    with torch.no_grad():
        for branch in (block.attention, block.perceptron):
            branch.out.weight /= (2 * (index + 1)) ** 0.5
