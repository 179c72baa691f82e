"""How a prediction is made."""

from dataclasses import dataclass
from typing import Literal

from gradsurge.experiments.runs.corrections import CORRECTIONS

AUTO = "auto"


@dataclass(frozen=True)
class PredictSettings:
    """Choices that hold for all cases.

    Attributes:
        correction: of the probabilities: one of `CORRECTIONS`, or "auto" for the one each run
            found to lower its validation NLL.
        overlap: of windows.
        mirror: whether the logits are the mean over all mirrored images.
        batch: windows that go through the network together.
        bits: 32 for float32 maps, 16 for integers k that stand for k / 65535.
        device: "cpu", "cuda", ..., or "auto" for an accelerator if there is one.
    """

    correction: str = AUTO
    overlap: float = 0.5
    mirror: bool = False
    batch: int = 1
    bits: Literal[16, 32] = 32
    device: str = AUTO

    def __post_init__(self) -> None:
        if self.correction not in (AUTO, *CORRECTIONS):
            known = ", ".join((AUTO, *CORRECTIONS))
            raise ValueError(f"correction: expected one of {known}, got {self.correction!r}")
        if not 0.0 <= self.overlap < 1.0:
            raise ValueError(f"overlap: expected a share from 0 to below 1, got {self.overlap}")
        if self.batch < 1:
            raise ValueError(f"batch: expected at least 1 window, got {self.batch}")
        if self.bits not in (16, 32):
            raise ValueError(f"bits: expected 16 or 32, got {self.bits}")
