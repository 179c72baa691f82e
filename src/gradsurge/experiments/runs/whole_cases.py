"""Logits of whole cases of a store, by sliding window."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from gradsurge.data.store import Store, StoredCase
from gradsurge.training.inference import sliding_window_logits


@dataclass
class WholeCases:
    """Cases of a store, to be put through a network.

    Attributes:
        store: where they are.
        window: of the network, voxels.
        device: of the network.
        batch: windows that go through the network together.
    """

    store: Store
    window: tuple[int, ...]
    device: torch.device
    batch: int = 1

    def logits(self, model: nn.Module, name: str) -> Tensor:
        """Return (K, *S) float32, on the CPU, of a model in eval mode.

        Raises:
            CaseError: the case is damaged.
        """
        image = torch.from_numpy(self.store.case(name).read_image())
        return sliding_window_logits(
            model,
            image,
            self.window,
            batch=self.batch,
            device=self.device,
            divisor=getattr(model, "divisor", 1),
        )

    def label(self, name: str) -> Tensor:
        """Return class numbers (*S)."""
        return torch.from_numpy(self.store.case(name).read_label())

    def image(self, name: str) -> Tensor:
        """Return (C, *S)."""
        return torch.from_numpy(self.store.case(name).read_image())

    def case(self, name: str) -> StoredCase:
        """Return the case."""
        return self.store.case(name)


@dataclass
class KeptLogits:
    """Logits of cases that are asked for twice; what fits in memory is computed once.

    Attributes:
        cases: computes them.
        model: in eval mode.
        names: of the cases.
        room: bytes for logits.
    """

    cases: WholeCases
    model: nn.Module
    names: Sequence[str]
    room: int = 1 << 30
    _kept: dict[str, Tensor] = field(default_factory=dict)

    def __iter__(self) -> Iterator[tuple[str, Tensor]]:
        """Yield name and logits of each case."""
        for name in self.names:
            logits = self._kept.get(name)
            if logits is None:
                logits = self.cases.logits(self.model, name)
                if logits.nbytes <= self.room:
                    self._kept[name] = logits
                    self.room -= logits.nbytes
            yield name, logits


@contextmanager
def evaluating(model: nn.Module) -> Iterator[nn.Module]:
    """Put a model in eval mode without gradients, and back into the mode it was in."""
    training = model.training
    model.eval()
    try:
        with torch.inference_mode():
            yield model
    finally:
        model.train(training)
