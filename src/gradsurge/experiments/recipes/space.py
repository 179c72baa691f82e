"""Values that a search may try: a range to draw from, or a choice among a few."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Scale = Literal["linear", "log"]


@dataclass(frozen=True)
class Range:
    """Numbers from ``low`` to ``high``, uniform on a linear or a logarithmic scale.

    >>> Range(1e-3, 1e-2, "log")
    Range(low=0.001, high=0.01, scale='log')

    Raises:
        ValueError: it is empty, not finite, or logarithmic and not above 0.
    """

    low: float
    high: float
    scale: Scale = "linear"

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise ValueError(f"expected low < high, got low={self.low!r}, high={self.high!r}")
        if self.scale == "log" and self.low <= 0:
            raise ValueError(f"a log scale needs low > 0, got low={self.low!r}")

    @property
    def samples(self) -> tuple[Any, ...]:
        """Values to check a range by: its ends."""
        return self.low, self.high


@dataclass(frozen=True)
class Choice:
    """One of a few values.

    Raises:
        ValueError: there is none, or one comes twice.
    """

    values: tuple[Any, ...]

    def __post_init__(self) -> None:
        if not self.values:
            raise ValueError("expected at least one value to choose from, got none")
        for place, value in enumerate(self.values):
            if value in self.values[:place]:
                raise ValueError(f"{value!r} comes twice")

    @property
    def samples(self) -> tuple[Any, ...]:
        """Values to check a choice by: all of them."""
        return self.values


# Dotted names: "training.learning_rate" (a field of TrainSettings), "loss.a" (of make_loss).
Space = Mapping[str, Range | Choice]
