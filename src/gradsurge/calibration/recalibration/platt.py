"""Platt scaling: a scale and a bias for each channel."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import torch
from torch import Tensor

from gradsurge.calibration.recalibration.channelwise import Channelwise, ends_from, ends_of
from gradsurge.calibration.recalibration.fitting import check_filled, origin
from gradsurge.calibration.recalibration.logistic import fit_scale_and_bias
from gradsurge.calibration.recalibration.recalibration_file import numbers
from gradsurge.calibration.sketch import CalibrationSketch


@dataclass(frozen=True, kw_only=True)
class Platt(Channelwise):
    r"""sigmoid(scale · z + bias) for each channel; scale 1 and bias 0 change nothing.

    The fit minimises the NLL without Platt's smoothed targets, with the scale between 0.05 and 10:
    positive, so that the ranking is kept. Multiclass: each class against the rest, then divided by
    the sum. A channel with positives or negatives only is left unchanged, and the note says so.

    Attributes:
        scales, biases: by channel.

    Reference: Platt, Probabilistic outputs for support vector machines, 1999.

    >>> import numpy as np
    >>> line = Platt(kind="binary", classes=2, scales=(0.5,), biases=(1.0,), limits=(16.6,))
    >>> line.apply_logits(np.array([-2.0, 2.0])).round(4)
    array([0.5   , 0.8808])
    """

    scales: tuple[float, ...]
    biases: tuple[float, ...]
    method: ClassVar[str] = "platt"

    @classmethod
    def fit(cls, sketch: CalibrationSketch, fitted_on: str = "") -> Self:
        """Fit scale and bias of each channel from a sketch."""
        check_filled(sketch)
        lines = [fit_scale_and_bias(h) for h in sketch.histograms]
        return cls(
            scales=tuple(line.scale for line in lines),
            biases=tuple(line.bias for line in lines),
            **ends_of(line.span for line in lines),
            **origin(sketch, fitted_on, lines),
        )

    @property
    def parameters(self) -> dict[str, Any]:
        """Scales, biases, limits and floors."""
        return {"scale": list(self.scales), "bias": list(self.biases), **self._ends()}

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any], **facts: Any) -> Self:
        """Return the recalibration with these parameters."""
        scales, biases = (numbers(parameters, name) for name in ("scale", "bias"))
        return cls(scales=scales, biases=biases, **ends_from(parameters), **facts)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        number = self.channels
        if len(self.scales) != number or not all(a > 0.0 for a in self.scales):
            raise ValueError(f"scales: expected {number} positive, got {self.scales}")
        if len(self.biases) != number:
            raise ValueError(f"biases: expected {number} numbers, got {self.biases}")

    def _probability(self, channel: int, log_odds: Tensor) -> Tensor:
        return torch.sigmoid(log_odds * self.scales[channel] + self.biases[channel])
