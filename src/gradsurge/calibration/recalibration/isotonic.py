"""Isotonic regression: the rising function that fits the frequencies best."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import torch
from scipy.optimize import isotonic_regression
from torch import Tensor

from gradsurge.calibration.cells import cells
from gradsurge.calibration.histogram import CLIP, Histogram
from gradsurge.calibration.recalibration.channelwise import Channelwise, ends_from, ends_of
from gradsurge.calibration.recalibration.fitting import check_filled, origin
from gradsurge.calibration.recalibration.log_odds import Span, cell_log_odds, span_of
from gradsurge.calibration.recalibration.logistic import one_sided
from gradsurge.calibration.recalibration.recalibration_file import number_lists
from gradsurge.calibration.sketch import CalibrationSketch

_Table = tuple[float, ...]


class _ChannelTable(NamedTuple):
    knots: _Table
    values: _Table
    span: Span
    note: str | None = None
    at_bound: bool = False


@dataclass(frozen=True, kw_only=True)
class Isotonic(Channelwise):
    """A table for each channel: constant on blocks, linear in the log-odds between them.

    Pool-adjacent-violators on the cells of the sketch. A probability of exactly 0 or 1 would give
    an infinite NLL to the first voxel that disagrees; so the values keep half a voxel of the N
    fitted on, 1/(2N), or 2^-24 if that is more, away from 0 and 1. Multiclass: each class against
    the rest, then divided by the sum. A channel with positives or negatives only is left unchanged,
    and the note says so.

    Attributes:
        knots: log-odds where a block begins or ends, by channel; empty for an unchanged channel.
        values: the probability at each knot.

    >>> import numpy as np
    >>> table = Isotonic(
    ...     kind="binary", classes=2, knots=((-1.0, 1.0),), values=((0.2, 0.4),), limits=(16.6,)
    ... )
    >>> table.apply_logits(np.array([-9.0, 0.0, 9.0])).round(4)
    array([0.2, 0.3, 0.4])
    """

    knots: tuple[_Table, ...]
    values: tuple[_Table, ...]
    method: ClassVar[str] = "isotonic"
    flat: ClassVar[bool] = True

    @classmethod
    def fit(cls, sketch: CalibrationSketch, fitted_on: str = "") -> Self:
        """Fit the table of each channel from a sketch."""
        check_filled(sketch)
        tables = [_fit_table(h) for h in sketch.histograms]
        return cls(
            knots=tuple(table.knots for table in tables),
            values=tuple(table.values for table in tables),
            **ends_of(table.span for table in tables),
            **origin(sketch, fitted_on, tables),
        )

    @property
    def parameters(self) -> dict[str, Any]:
        """Tables, limits and floors."""
        return {
            "logits": [list(row) for row in self.knots],
            "probabilities": [list(row) for row in self.values],
            **self._ends(),
        }

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any], **facts: Any) -> Self:
        """Return the recalibration with these parameters."""
        knots = number_lists(parameters, "logits")
        values = number_lists(parameters, "probabilities")
        return cls(knots=knots, values=values, **ends_from(parameters), **facts)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not len(self.knots) == len(self.values) == self.channels:
            raise ValueError(
                f"knots and values: expected {self.channels} lists each, got {len(self.knots)} and "
                f"{len(self.values)}"
            )
        for x, y in zip(self.knots, self.values, strict=True):
            rising = len(x) == len(y) and bool((np.diff(x) > 0).all() and (np.diff(y) >= 0).all())
            if not rising or (y and not 0.0 <= y[0] <= y[-1] <= 1.0):
                raise ValueError("knots and values: expected as many, rising, values in [0, 1]")

    def _probability(self, channel: int, log_odds: Tensor) -> Tensor:
        if not self.knots[channel]:
            return torch.sigmoid(log_odds)
        return _interpolated(log_odds, self.knots[channel], self.values[channel])


def _interpolated(x: Tensor, knots: _Table, values: _Table) -> Tensor:
    device = torch.device("cpu") if x.device.type == "mps" else x.device
    exact = torch.tensor((knots, values), dtype=torch.float64, device=device)
    slopes = torch.zeros_like(exact[0])
    slopes[1:] = exact[1].diff() / exact[0].diff()
    start = exact.roll(1, dims=1)
    start[:, 0] = exact[:, 0]
    places = exact[0].to(x)
    segment = torch.bucketize(x.contiguous(), places).clamp_(max=len(knots) - 1)
    left, low, high, slope = (t.to(x)[segment] for t in (*start, exact[1], slopes))
    # Rounding must not carry a value over the next one: that would change the ranking.
    return torch.addcmul(low, slope, x - left).clamp_(low, high)


def _fit_table(histogram: Histogram) -> _ChannelTable:
    span = span_of(histogram)
    if note := one_sided(histogram):
        return _ChannelTable((), (), span, note)
    found = cells(histogram)
    # Cells beyond the span cannot be told apart: they are one.
    z, cell = np.unique(cell_log_odds(found, span), return_inverse=True)
    counts, positives = (np.bincount(cell, n) for n in (found.counts, found.positives))
    blocks = isotonic_regression(positives / counts, weights=counts).blocks
    first, last = blocks[:-1], blocks[1:] - 1
    # Ratios of whole numbers: a block of as many positives as negatives is at 0.5, not next to it.
    ratios = np.add.reduceat(positives, first) / np.add.reduceat(counts, first)
    margin = max(0.5 / histogram.total, CLIP)
    rising = np.maximum.accumulate(np.clip(ratios, margin, 1.0 - margin))
    values = np.repeat(rising, np.diff(blocks))
    ends = np.union1d(first, last)
    return _ChannelTable(tuple(z[ends].tolist()), tuple(values[ends].tolist()), span)
