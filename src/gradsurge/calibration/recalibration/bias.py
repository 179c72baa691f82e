"""A bias alone: what a shift of the prior, or of a loss's rest point, asks for."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import torch
from torch import Tensor

from gradsurge.calibration.recalibration.channelwise import Channelwise, ends_from, ends_of
from gradsurge.calibration.recalibration.fitting import check_filled, origin
from gradsurge.calibration.recalibration.logistic import fit_bias
from gradsurge.calibration.recalibration.recalibration_file import numbers
from gradsurge.calibration.sketch import CalibrationSketch


@dataclass(frozen=True, kw_only=True)
class Bias(Channelwise):
    r"""sigmoid(z + bias) for each channel; bias 0 changes nothing.

    The fit minimises the NLL, which makes the mean probability equal to the frequency. Multiclass:
    each class against the rest, then divided by the sum. A channel with positives or negatives only
    is left unchanged, and the note says so.

    Attributes:
        biases: by channel.

    >>> import numpy as np
    >>> tripled = Bias(kind="binary", classes=2, biases=(float(np.log(3)),), limits=(16.6,))
    >>> tripled.apply_probabilities(np.array([0.25, 0.5]))  # the odds, three times as high
    array([0.5 , 0.75])
    """

    biases: tuple[float, ...]
    method: ClassVar[str] = "bias"

    @classmethod
    def fit(cls, sketch: CalibrationSketch, fitted_on: str = "") -> Self:
        """Fit the bias of each channel from a sketch."""
        check_filled(sketch)
        lines = [fit_bias(h) for h in sketch.histograms]
        return cls(
            biases=tuple(line.bias for line in lines),
            **ends_of(line.span for line in lines),
            **origin(sketch, fitted_on, lines),
        )

    @property
    def parameters(self) -> dict[str, Any]:
        """Biases, limits and floors."""
        return {"bias": list(self.biases), **self._ends()}

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any], **facts: Any) -> Self:
        """Return the recalibration with these parameters."""
        return cls(biases=numbers(parameters, "bias"), **ends_from(parameters), **facts)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if len(self.biases) != self.channels:
            raise ValueError(f"biases: expected {self.channels} numbers, got {self.biases}")

    def _probability(self, channel: int, log_odds: Tensor) -> Tensor:
        return torch.sigmoid(log_odds + self.biases[channel])
