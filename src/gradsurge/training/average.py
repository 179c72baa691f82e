"""A moving average of a model's weights."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class Average:
    """Moving average of the state of a model, running statistics included.

    After step t: a ← d a + (1 - d) w, with d = min(decay, (1 + t) / (10 + t)), so that the first
    weights, which are random, are soon forgotten; before step 0, a = w. What is not a floating
    number is copied.

    Args:
        model: whose weights are averaged; the average starts as these.
        decay: d after many steps.

    >>> model = nn.Linear(1, 1, bias=False)
    >>> _ = nn.init.zeros_(model.weight)
    >>> average = Average(model, decay=0.999)
    >>> _ = nn.init.ones_(model.weight)
    >>> average.update(model, step=0)
    >>> average.state["weight"].item()  # 0.1 · 0 + 0.9 · 1
    0.9
    """

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.decay = decay
        self.state = {name: value.clone() for name, value in model.state_dict().items()}

    @torch.no_grad()
    def update(self, model: nn.Module, step: int) -> None:
        """Take in the weights after a step, counted from 0, the first that is averaged."""
        decay = min(self.decay, (1 + step) / (10 + step)) if step >= 0 else 0.0
        for name, value in model.state_dict().items():
            mean = self.state[name]
            if mean.is_floating_point():
                mean.lerp_(value, 1.0 - decay)
            else:
                mean.copy_(value)

    def load(self, state: Mapping[str, Tensor]) -> None:
        """Go on from a kept average.

        Raises:
            ValueError: it is not of this model.
        """
        if state.keys() != self.state.keys():
            raise ValueError("ema: expected the averaged weights of this model, got others")
        for name, value in state.items():
            self.state[name].copy_(value)

    @contextmanager
    def in_place_of(self, model: nn.Module) -> Iterator[None]:
        """Give the model the averaged weights for a while."""
        own = {name: value.clone() for name, value in model.state_dict().items()}
        try:
            model.load_state_dict(self.state)
            yield
        finally:
            model.load_state_dict(own)
