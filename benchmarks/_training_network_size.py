"""How large a network is, counted alike on both sides: torch alone."""

from collections.abc import Sequence

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode


def network_size(network: nn.Module, channels: int, patch: Sequence[int]) -> dict[str, float]:
    """Return parameters, and 10⁹ floating point operations of one patch forward, as in training."""
    network.train()
    counter = FlopCounterMode(display=False)
    with counter, torch.no_grad():
        network(torch.zeros(2, channels, *patch))
    parameters = sum(p.numel() for p in network.parameters())
    return {"parameters": parameters, "gflop": counter.get_total_flops() / 2e9}
