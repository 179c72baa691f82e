"""Recalibrations that map the log-odds of each channel by itself."""

from abc import abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor

from gradsurge.calibration.recalibration.log_odds import against_rest
from gradsurge.calibration.recalibration.recalibration import Recalibration

_TINY = 1e-37  # keeps the sum over classes from being 0 in float32


@dataclass(frozen=True, kw_only=True)
class Channelwise(Recalibration):
    """A rising function of the log-odds for each channel; several exclusive classes, normalised.

    Binary: one function of the foreground. Multilabel: one a channel. Multiclass: one a class
    against the rest; the results are divided by their sum, so that they sum to 1 again. That
    division couples the classes: within a class the ranking of voxels may change by it.

    Log-odds beyond the limit count as the limit, as in the fit. So p = 0 and p = 1, which are
    mostly roundings, are moved like their neighbours.

    Attributes:
        limits: the largest |log-odds| that the fit could tell, by channel.
    """

    limits: tuple[float, ...]

    def _check_parameters(self) -> None:
        if len(self.limits) != self.channels or not all(v > 0.0 for v in self.limits):
            raise ValueError(
                f"limits: expected {self.channels} positive numbers, got {self.limits}"
            )

    @abstractmethod
    def _probability(self, channel: int, log_odds: Tensor) -> Tensor:
        """Return the recalibrated probabilities of one channel."""

    def _from_probabilities(self, p: Tensor) -> Tensor:
        return self._mapped(torch.logit(p))

    def _from_logits(self, z: Tensor) -> Tensor:
        return self._mapped(against_rest(z) if self.kind == "multiclass" else z)

    def _mapped(self, log_odds: Tensor) -> Tensor:
        mapped = torch.empty_like(log_odds)
        for k, limit in enumerate(self.limits):
            mapped[k] = self._probability(k, log_odds[k].clamp(-limit, limit))
        if self.kind != "multiclass":
            return mapped
        mapped.clamp_(min=_TINY)
        return mapped.div_(mapped.sum(0))
