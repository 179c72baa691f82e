"""What is done in a backward pass: the parameters of the surgery, and its normalisation."""

import math
from dataclasses import dataclass
from numbers import Real
from typing import Literal

import torch
from torch import Tensor

Activation = Literal["softmax", "sigmoid"]
Normalise = bool | Literal["batch"]

# The defaults of everything that does surgery: the paper's.
DECLINE: float | None = 20.0
SCALE = 0.25
NORMALISE: Normalise = False

_LARGEST = 1e4  # of the normalisation: a handful of voxels in a patch of 128^3 reach it


@dataclass(frozen=True)
class SurgeryRule:
    """What replaces p(1-p) in the backward pass: s e (1 - e^n)(1 - (1-e)^n), with e = abs(y - p).

    Args:
        decline: the exponent n > 0 of the decline near 0 and 1; None leaves both factors out.
        scale: the factor s > 0.
        normalise: multiply dL/dp of each sample and foreground class with `normalisation`, so that
            rare structures pull as hard as large ones; "batch" for one factor a class over the
            whole batch.

    >>> SurgeryRule(decline=20.0, scale=0.25, normalise=False)  # the paper's
    SurgeryRule(decline=20.0, scale=0.25, normalise=False)
    """

    decline: float | None = DECLINE
    scale: float = SCALE
    normalise: Normalise = NORMALISE

    def __post_init__(self) -> None:
        """Refuse what is not a positive finite number."""
        if self.decline is not None:
            _check_positive("decline", self.decline, " or None (no decline)")
        _check_positive("scale", self.scale)
        if not isinstance(self.normalise, bool) and self.normalise != "batch":
            raise ValueError(f"normalise: expected True, False or 'batch', got {self.normalise!r}")


def normalisation(predicted: Tensor, target: Tensor, blend: float = 1.0) -> Tensor:
    """Return κ = (P + Y) / (2 Y), what dL/dp is multiplied with; detached.

    For Dice the field of a sample is then as large for a rare structure as for a large one, and
    nothing changes where P = Y. Without any foreground, Y = 0, it is 1.

    Args:
        predicted: P, the sum of p over the voxels that count.
        target: Y, that of the labels, in the same shape.
        blend: share of the surgery; the normalisation comes and goes with it.

    >>> normalisation(torch.tensor([4.0, 300.0, 3.0]), torch.tensor([4.0, 2.0, 0.0])).tolist()
    [1.0, 75.5, 1.0]
    """
    predicted, target = predicted.detach(), target.detach()
    factor = torch.where(target > 0, 0.5 + 0.5 * predicted / target, 1.0).clamp_max(_LARGEST)
    return factor if blend == 1.0 else 1.0 + blend * (factor - 1.0)


def _check_positive(name: str, value: float, otherwise: str = "") -> None:
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name}: expected a number > 0{otherwise}, got {value!r}")
    if not (value > 0 and math.isfinite(value)):
        raise ValueError(f"{name}: expected a number > 0{otherwise}, got {value!r}")


def check_blend(blend: float) -> float:
    """Return ``blend`` if it lies in [0, 1]: 0 is the plain gradient, 1 the surgery."""
    if not isinstance(blend, Real):
        raise TypeError(f"blend: expected a number from 0 to 1, got {blend!r}")
    if not 0.0 <= blend <= 1.0:
        raise ValueError(f"blend: expected a number from 0 (plain) to 1 (surgery), got {blend!r}")
    return blend


@dataclass(frozen=True)
class Operation:
    """Everything about one call that is not a tensor."""

    activation: Activation
    rule: SurgeryRule | None
    blend: float = 1.0
    ignore_index: int | None = None
    check: bool = True
    soft: bool = False
    nll: bool = False
    hard: bool = False
    refuse_probabilities: bool = False

    def kind(self, channels: int) -> Literal["two", "many", "channels"]:
        """Two exclusive classes, more of them, or channels that may overlap."""
        if self.activation == "sigmoid":
            return "channels"
        return "two" if channels == 2 else "many"

    def label_slices(self, rows: slice, voxels: slice) -> tuple[slice, ...]:
        """Return what picks a piece of the labels: (N, V), or (N, C, V) for channels."""
        return (rows, voxels) if self.activation == "softmax" else (rows, slice(None), voxels)
