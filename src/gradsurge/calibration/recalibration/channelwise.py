"""Recalibrations that map the log-odds of each channel by itself."""

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from gradsurge.calibration.recalibration.log_odds import Span, against_rest
from gradsurge.calibration.recalibration.recalibration import Recalibration
from gradsurge.calibration.recalibration.recalibration_file import numbers

_TINY = 1e-37  # keeps the sum over classes from being 0 in float32


@dataclass(frozen=True, kw_only=True)
class Channelwise(Recalibration):
    """A rising function of the log-odds for each channel; several exclusive classes, normalised.

    Binary: one function of the foreground. Multilabel: one a channel. Multiclass: one a class
    against the rest; the results are divided by their sum, so that they sum to 1 again. That
    division couples the classes: within a class the ranking of voxels may change by it.

    Log-odds beyond floor and limit count as these, as in the fit. So p = 0 and p = 1, which are
    mostly roundings, are moved like their neighbours.

    Attributes:
        limits: the largest log-odds that the fit could tell, by channel.
        floors: the smallest; the limits on the other side of 0 if none are given.
    """

    limits: tuple[float, ...]
    floors: tuple[float, ...] = ()

    def _check_parameters(self) -> None:
        if len(self.limits) != self.channels or not all(v > 0.0 for v in self.limits):
            raise ValueError(
                f"limits: expected {self.channels} positive numbers, got {self.limits}"
            )
        if len(self.floors) not in (0, self.channels) or not all(v < 0.0 for v in self.floors):
            raise ValueError(
                f"floors: expected {self.channels} negative numbers, or none, got {self.floors}"
            )

    @property
    def spans(self) -> list[Span]:
        """Floor and limit, by channel."""
        floors = self.floors or tuple(-limit for limit in self.limits)
        return [Span(*ends) for ends in zip(floors, self.limits, strict=True)]

    def _ends(self) -> dict[str, list[float]]:
        """Return floors and limits as parameters, the floors only if they were given."""
        return {"limit": list(self.limits)} | ({"floor": list(self.floors)} if self.floors else {})

    @abstractmethod
    def _probability(self, channel: int, log_odds: Tensor) -> Tensor:
        """Return the recalibrated probabilities of one channel."""

    def _from_probabilities(self, p: Tensor) -> Tensor:
        return self._mapped(torch.logit(p))

    def _from_logits(self, z: Tensor) -> Tensor:
        return self._mapped(against_rest(z) if self.kind == "multiclass" else z)

    def _mapped(self, log_odds: Tensor) -> Tensor:
        mapped = torch.empty_like(log_odds)
        for k, (floor, limit) in enumerate(self.spans):
            mapped[k] = self._probability(k, log_odds[k].clamp(floor, limit))
        if self.kind != "multiclass":
            return mapped
        mapped.clamp_(min=_TINY)
        return mapped.div_(mapped.sum(0))


def ends_of(spans: Iterable[Span]) -> dict[str, Any]:
    """Return limits and floors as the recalibrations take them."""
    floors, limits = zip(*spans, strict=True)
    return {"limits": limits, "floors": floors}


def ends_from(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return limits and floors of stored parameters; files of before had no floors.

    Raises:
        ValueError: if they are something else.
    """
    floors = numbers(parameters, "floor") if "floor" in parameters else ()
    return {"limits": numbers(parameters, "limit"), "floors": floors}
