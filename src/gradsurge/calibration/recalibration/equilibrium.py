"""The closed-form correction of a model that a surgery loss has trained: nothing is fitted."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import torch
from torch import Tensor

from gradsurge.calibration.equilibrium import posterior_from_equilibrium
from gradsurge.calibration.rates import as_problems, check_rates
from gradsurge.calibration.recalibration.recalibration import Recalibration
from gradsurge.calibration.recalibration.recalibration_file import number_lists
from gradsurge.calibration.sketch import Kind

_Matrix = tuple[tuple[float, ...], ...]


@dataclass(frozen=True, kw_only=True)
class Equilibrium(Recalibration):
    """The posterior at which the field of a trained loss came to rest.

    The mathematics is in `posterior_from_equilibrium`. The rates of K problems with L labels tell
    the kind: 1 of 2 is binary, 1 of C multiclass, C of 2 multilabel.

    Attributes:
        region: K matrices L x L, the mean rates of the region loss.
        cross_entropy: K rows of L, the mean rates of cross-entropy; empty if there is none.
        decline: the exponent of the decline, None for no decline.

    >>> import numpy as np
    >>> rates = torch.tensor([[0.0, 1.0], [3.0, 0.0]])  # foreground pulls three times as hard
    >>> Equilibrium.from_rates(rates).apply_probabilities(np.array([0.2, 0.75])).round(4)
    array([0.0769, 0.5   ])
    """

    region: tuple[_Matrix, ...]
    cross_entropy: _Matrix = ()
    decline: float | None = None
    method: ClassVar[str] = "equilibrium"

    @classmethod
    def from_rates(
        cls,
        region: Tensor,
        cross_entropy: Tensor | None = None,
        decline: float | None = None,
        *,
        fitted_on: str = "",
    ) -> Self:
        """Take what a trained loss measured: ``from_rates(*loss.equilibrium()[:3])``.

        Args:
            region: (1, C, C) or (C, C) of exclusive classes, (C, 2, 2) of channels.
            cross_entropy: (1, C) or (C,), (C, 2); None or zeros if there is no such term.
            decline: the exponent of the decline.
            fitted_on: which training it comes from, in words.
        """
        region = as_problems("region", region, axes=3).detach().cpu().double()
        kind, classes = _kind_of(tuple(region.shape))
        rows: _Matrix = ()
        # Without cross-entropy the decline is common to all rates: it cancels, even where it is 0.
        if cross_entropy is not None:
            ce = as_problems("cross_entropy", cross_entropy, axes=2).detach().cpu().double()
            check_rates(region, ce, decline)
            rows = _rows(ce.tolist()) if bool(ce.any()) else ()
        matrices = tuple(_rows(matrix) for matrix in region.tolist())
        facts: dict[str, Any] = {"kind": kind, "classes": classes, "fitted_on": fitted_on}
        return cls(region=matrices, cross_entropy=rows, decline=decline, **facts)

    @property
    def parameters(self) -> dict[str, Any]:
        """Rates and decline."""
        return {
            "region": [[list(row) for row in matrix] for matrix in self.region],
            "cross_entropy": [list(row) for row in self.cross_entropy],
            "decline": self.decline,
        }

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any], **facts: Any) -> Self:
        """Return the recalibration with these parameters."""
        region, decline = parameters.get("region"), parameters.get("decline")
        if not isinstance(region, list):
            raise ValueError(f"region: expected a list of matrices, got {region!r:.60}")
        if decline is not None and (
            isinstance(decline, bool) or not isinstance(decline, int | float)
        ):
            raise ValueError(f"decline: expected a number or null, got {decline!r:.60}")
        matrices = tuple(number_lists({"region": matrix}, "region") for matrix in region)
        rows = number_lists(parameters, "cross_entropy")
        return cls(region=matrices, cross_entropy=rows, decline=decline, **facts)

    def _check_parameters(self) -> None:
        shape = _shape(self.region)
        if _kind_of(shape) != (self.kind, self.classes):
            raise ValueError(
                f"region: {self.kind} of {self.classes} classes does not fit rates of shape {shape}"
            )
        rows = [len(row) for row in self.cross_entropy]
        if rows and rows != [shape[1]] * shape[0]:
            raise ValueError(f"cross_entropy: expected shape {shape[:2]}, got rows of {rows}")
        check_rates(*self._rates(), self.decline)

    def _from_probabilities(self, p: Tensor) -> Tensor:
        return self._posterior(p)

    def _from_logits(self, z: Tensor) -> Tensor:
        exact = z if z.device.type == "mps" else z.double()
        if self.kind == "multiclass":
            return self._posterior(exact.softmax(0)).to(z.dtype)
        if self.kind == "binary":  # both classes from the logit: 1 - p would lose the small one
            return self._posterior(torch.cat((-exact, exact)).sigmoid())[1:].to(z.dtype)
        return self._posterior(exact.sigmoid()).to(z.dtype)

    def _posterior(self, p: Tensor) -> Tensor:
        return posterior_from_equilibrium(p.unsqueeze(0), *self._rates(), self.decline)[0]

    def _rates(self) -> tuple[Tensor, Tensor | None]:
        ce = torch.tensor(self.cross_entropy, dtype=torch.float64) if self.cross_entropy else None
        return torch.tensor(self.region, dtype=torch.float64), ce


def _kind_of(shape: tuple[int, ...]) -> tuple[Kind, int]:
    problems, rows, columns = shape if len(shape) == 3 else (0, 0, 0)
    if rows == columns == 2 and problems > 1:
        return "multilabel", problems
    if problems != 1 or rows != columns or rows < 2:
        raise ValueError(f"region: expected rates (1, C, C) or (C, 2, 2), got shape {shape}")
    return ("binary" if rows == 2 else "multiclass"), rows


def _shape(region: Sequence[_Matrix]) -> tuple[int, ...]:
    sizes = {(len(matrix), len(row)) for matrix in region for row in matrix}
    return (len(region), *sizes.pop()) if len(sizes) == 1 else (len(region),)


def _rows(values: Sequence[Sequence[float]]) -> _Matrix:
    return tuple(tuple(row) for row in values)
