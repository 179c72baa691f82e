"""Temperature scaling: one number that makes all outputs more or less confident."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import torch
from torch import Tensor

from gradsurge.calibration.histogram import CLIP
from gradsurge.calibration.recalibration.channelwise import Channelwise, ends_from, ends_of
from gradsurge.calibration.recalibration.fitting import check_filled, origin
from gradsurge.calibration.recalibration.ladder import fit_ladder
from gradsurge.calibration.recalibration.logistic import fit_scale
from gradsurge.calibration.recalibration.recalibration_file import numbers
from gradsurge.calibration.sketch import CalibrationSketch


@dataclass(frozen=True, kw_only=True)
class Temperature(Channelwise):
    r"""sigmoid(z / T), or softmax(z / T) over all classes together; T = 1 changes nothing.

    The fit minimises the NLL, with T between 0.1 and 20: on separable data T = 0 would be best.
    Multilabel has a T a channel. Of multiclass probabilities, those below 2^-24 count as that, as
    in a sketch; its logits have no limit.

    Attributes:
        temperatures: one, or one a channel of a multilabel recalibration.

    Reference: Guo et al., On calibration of modern neural networks, ICML 2017.

    >>> import numpy as np
    >>> halved = Temperature(kind="binary", classes=2, temperatures=(2.0,), limits=(16.6,))
    >>> halved.apply_logits(np.array([0.0, 2.0])).round(4)
    array([0.5   , 0.7311])
    """

    temperatures: tuple[float, ...]
    method: ClassVar[str] = "temperature"

    @classmethod
    def fit(cls, sketch: CalibrationSketch, fitted_on: str = "") -> Self:
        """Fit the temperature from a sketch."""
        check_filled(sketch)
        if sketch.kind == "multiclass":
            found = fit_ladder(sketch.ladder, sketch.voxels)
            facts = origin(sketch, fitted_on, [found])
            return cls(temperatures=(found.temperature,), limits=(), **facts)
        lines = [fit_scale(h) for h in sketch.histograms]
        return cls(
            temperatures=tuple(1.0 / line.scale for line in lines),
            **ends_of(line.span for line in lines),
            **origin(sketch, fitted_on, lines),
        )

    @property
    def parameters(self) -> dict[str, Any]:
        """Temperatures, limits and floors."""
        return {"temperature": list(self.temperatures), **self._ends()}

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any], **facts: Any) -> Self:
        """Return the recalibration with these parameters."""
        temperatures = numbers(parameters, "temperature")
        return cls(temperatures=temperatures, **ends_from(parameters), **facts)

    def _check_parameters(self) -> None:
        joint = self.kind == "multiclass"
        if joint and self.limits:
            raise ValueError(f"limits: a multiclass temperature has none, got {self.limits}")
        if not joint:
            super()._check_parameters()
        number = 1 if joint else self.channels
        if len(self.temperatures) != number or not all(t > 0.0 for t in self.temperatures):
            raise ValueError(f"temperatures: expected {number} positive, got {self.temperatures}")

    def _probability(self, channel: int, log_odds: Tensor) -> Tensor:
        return torch.sigmoid(log_odds / self.temperatures[channel])

    def _from_probabilities(self, p: Tensor) -> Tensor:
        if self.kind == "multiclass":
            return self._from_logits(p.clamp_min(CLIP).log_())
        return super()._from_probabilities(p)

    def _from_logits(self, z: Tensor) -> Tensor:
        if self.kind == "multiclass":
            return (z / self.temperatures[0]).softmax(0)
        return super()._from_logits(z)
